/// Something that readers of a report should know, and that does not fail the check.
public struct Note: Hashable, Sendable {
    /// Where to look.
    public let location: SourceLocation
    /// What there is, in a sentence or two.
    public let message: String

    /// Something that readers of a report should know.
    public init(location: SourceLocation, message: String) {
        self.location = location
        self.message = message
    }
}
