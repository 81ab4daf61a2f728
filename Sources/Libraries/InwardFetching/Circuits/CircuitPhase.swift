/// What a circuit does with requests, by the name that observers are told.
enum CircuitPhase: String, Hashable, Sendable {
    /// It lets all of them through.
    case closed
    /// It refuses them for a while.
    case open
    /// It lets probes through.
    case halfOpen = "half open"
    /// It refuses them until it is told otherwise.
    case isolated
}
