/// A file that shows something, with a mark by which it is known again.
public struct RenderedFile: Hashable, Sendable {
    /// What the file is called, without a directory.
    public let name: String
    /// What the file holds. It contains the mark.
    public let contents: String
    /// What a file of this name contains if, and only if, the same program wrote it.
    public let mark: String

    /// Makes a file of contents in which the mark appears.
    public init(name: String, contents: String, mark: String) {
        self.name = name
        self.contents = contents
        self.mark = mark
    }
}
