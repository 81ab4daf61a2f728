/// An error, and how often it came again and was dropped.
public struct RepeatedError: Error, CustomStringConvertible {
    /// The first error of its kind.
    public let error: any Error
    /// How many equal ones were dropped behind it; at least one.
    public let repeats: Int
    /// For how long they were dropped.
    public let window: Duration

    /// Names an error and how many equal ones were dropped within the window behind it.
    public init(_ error: any Error, repeats: Int, window: Duration) {
        self.error = error
        self.repeats = repeats
        self.window = window
    }

    /// The error's description and how often it came again: `… (and 41 times more within 10.0 seconds)`.
    public var description: String {
        "\(error) (and \(repeats == 1 ? "once" : "\(repeats) times") more within \(window))"
    }
}
