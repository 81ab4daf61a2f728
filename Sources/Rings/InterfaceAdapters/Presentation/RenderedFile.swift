/// A file that shows something, and begins with a mark by which it is known again.
public struct RenderedFile: Hashable, Sendable {
    /// What the file is called, without a directory.
    public let name: String
    /// What the file holds. It begins with the mark.
    public let contents: String
    /// What a file of this name begins with if the same program wrote it, and hardly if anybody else did.
    public let mark: String

    /// Makes a file of contents that begin with the mark.
    public init(name: String, contents: String, mark: String) {
        self.name = name
        self.contents = contents
        self.mark = mark
    }
}
