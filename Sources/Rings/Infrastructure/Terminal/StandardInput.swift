import Foundation

/// What a program is given to read.
public struct StandardInput: Sendable {
    private let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// The standard input of this process. A file, a pipe or a terminal, it is read when somebody asks, on a thread of its own.
    public init() {
        self.init(descriptor: STDIN_FILENO)
    }

    /// An input that is read elsewhere.
    ///
    /// - Parameter read: Gives the next bytes, none at the end. It returns soon when its task is cancelled, with whatever.
    public init(read: @escaping @Sendable () async throws(StandardInputError) -> [UInt8]) {
        self.read = read
    }

    /// What comes from a file of this process that is open now, and stays so.
    init(descriptor: Int32) {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            // A program may be started without one. What is opened later has its number, and is somebody else's.
            let error = StandardInputError(code: errno)
            self.init { () async throws(StandardInputError) in throw error }
            return
        }
        let reader = DescriptorReader(descriptor)
        self.init { () async throws(StandardInputError) in try await reader.read() }
    }

    /// Its lines, from where it was read to.
    ///
    /// - Parameter byteLimit: How many bytes a line may have, at least 1. One that has more is given without them, and no more
    ///   than this limit and a part of the input is in memory at a time.
    /// - Returns: the lines, for one reader.
    public func lines(upTo byteLimit: Int) -> InputLines {
        InputLines(byteLimit: max(1, byteLimit), read: read)
    }
}
