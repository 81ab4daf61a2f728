/// A line of a file.
public struct SourceLocation: Hashable, Sendable {
    /// The file's path from the package's root, with `/` between its parts.
    public let file: String
    /// The line, from 1.
    public let line: Int

    /// A line of a file.
    public init(file: String, line: Int) {
        self.file = file
        self.line = line
    }
}

extension SourceLocation: Comparable {
    /// By file, and then by line.
    public static func < (one: SourceLocation, other: SourceLocation) -> Bool {
        (one.file, one.line) < (other.file, other.line)
    }
}

extension SourceLocation: CustomStringConvertible {
    /// The location as compilers write it: `file:line`.
    public var description: String { "\(file):\(line)" }
}
