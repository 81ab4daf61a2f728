/// That a circuit does something else with requests from now on.
struct CircuitChange: Hashable, Sendable {
    let from: CircuitPhase
    let to: CircuitPhase
}
