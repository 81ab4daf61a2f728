/// Why data could not be loaded.
public struct DataLoaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the data was to come from, as whoever was to load it would write it. Free of credentials.
    public let source: String
    /// What happened then, as the end of a sentence that begins with the source: `was answered with 503`.
    public let explanation: String
    /// Whether it says that there is no such data, and asking again will not help.
    public let meansAbsence: Bool

    /// Makes an error that says where the data was to come from, and what happened.
    public init(source: String, explanation: String, meansAbsence: Bool = false) {
        self.source = source
        self.explanation = explanation
        self.meansAbsence = meansAbsence
    }

    /// The source and what happened, as one sentence without its full stop.
    public var description: String { "\(source) \(explanation)" }
}
