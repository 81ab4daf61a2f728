import Foundation

/// Where a program writes what it was asked for.
public struct StandardOutput: Sendable {
    private let write: @Sendable (String) throws -> Void

    /// The standard output of this process.
    public init() {
        self.init { text in try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
    }

    /// A standard output that writes elsewhere.
    public init(write: @escaping @Sendable (String) throws -> Void) {
        self.write = write
    }

    /// Writes a text as it is.
    ///
    /// - Throws: a ``StandardOutputError`` if it did not get through.
    public func print(_ text: String) throws(StandardOutputError) {
        do {
            try write(text)
        } catch {
            throw StandardOutputError(error)
        }
    }
}
