/// A choice that is not possible.
public struct AppConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which choice, and why, as a whole sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
