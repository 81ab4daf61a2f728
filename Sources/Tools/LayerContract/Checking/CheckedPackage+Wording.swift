extension CheckedPackage {
    /// Why a target may not use another, as the end of a sentence.
    func absence(of used: TargetDescription, for user: TargetDescription) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(ring(of: used) == nil ? used.name : user.name) is in no ring"
        }
        if membership(of: used) == .test { return "\(used.name) is a test target" }
        if edge.source == edge.destination { return "no arrow leads from the ring \(edge.source) to itself" }
        return "no arrow leads from \(edge.source) to \(edge.destination)\(isOutward(edge) ? ": that is outward" : "")"
    }

    /// How to mend the use of a target that may not be used.
    func remedy(for user: TargetDescription, using used: TargetDescription, instead: String) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(instead), or draw both in \(diagram.file), and an arrow between them if it is meant."
        }
        if membership(of: used) == .test { return "\(instead); put what is shared into a target that is no test." }
        if isOutward(edge) {
            return "\(instead); let \(edge.source) say what it needs by a protocol that \(edge.destination) implements."
        }
        let arrow = edge.user == .testsOfRing ? "-.->" : "-->"
        return "\(instead), or draw `\(edge.source) \(arrow) \(edge.destination)` in \(diagram.file) if it is meant."
    }

    /// Whether the diagram leads the other way.
    private func isOutward(_ edge: Edge) -> Bool {
        guard edge.user == .ring else { return false }
        var reached: Set<String> = []
        var waiting = [edge.destination]
        while let ring = waiting.popLast() {
            guard reached.insert(ring).inserted else { continue }
            waiting += diagram.edges.filter { $0.source == ring && $0.user == .ring }.map(\.destination)
        }
        return reached.contains(edge.source) && edge.source != edge.destination
    }
}
