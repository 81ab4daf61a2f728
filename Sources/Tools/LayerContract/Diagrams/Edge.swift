/// An arrow of the diagram, from one ring to another.
public struct Edge: Hashable, Sendable {
    /// Who may use the other ring.
    public enum User: Hashable, Sendable {
        /// The ring's targets, and its tests: drawn `-->`.
        case ring
        /// The ring's tests alone: drawn `-.->`.
        case testsOfRing
    }

    /// The ring that uses.
    public let source: String
    /// The ring that is used.
    public let destination: String
    /// Whose arrow it is.
    public let user: User

    /// An arrow from one ring to another.
    public init(from source: String, to destination: String, for user: User = .ring) {
        self.source = source
        self.destination = destination
        self.user = user
    }
}

extension Edge: CustomStringConvertible {
    /// The edge as findings name it.
    public var description: String { "\(source) → \(destination)" }
}
