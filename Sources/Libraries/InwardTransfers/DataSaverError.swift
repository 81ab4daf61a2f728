/// Why data could not be saved.
public struct DataSaverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the data was to go, as whoever was to save it would write it, such as `POST http://127.0.0.1:8787/errors`. Free
    /// of credentials.
    public let destination: String
    /// What happened then, as the end of a sentence that begins with the destination: `was answered with 503`.
    public let explanation: String

    /// Makes an error that says where the data was to go, and what happened.
    public init(destination: String, explanation: String) {
        self.destination = destination
        self.explanation = explanation
    }

    /// The destination and what happened, as one sentence without its full stop.
    public var description: String { "\(destination) \(explanation)" }
}
