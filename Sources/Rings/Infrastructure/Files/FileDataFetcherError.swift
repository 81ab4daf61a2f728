/// Why a directory cannot be fetched from.
public struct FileDataFetcherError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the directory.
    public let path: String
    /// What is wrong with it, as the end of a sentence.
    public let explanation: String

    /// The path and what is wrong with it.
    public var description: String { "“\(path)” \(explanation)" }
}
