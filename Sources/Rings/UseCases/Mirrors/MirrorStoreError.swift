/// Why a mirror cannot be kept.
public struct MirrorStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the mirror was to be, as whoever keeps it would write it.
    public let place: String
    /// What is wrong, and what can be done about it, as whole sentences of which the first begins with the place.
    public let explanation: String

    /// Makes an error that says where the mirror was to be, and what is wrong.
    public init(place: String, explanation: String) {
        self.place = place
        self.explanation = explanation
    }

    /// The place and what is wrong.
    public var description: String { "\(place) \(explanation)" }
}
