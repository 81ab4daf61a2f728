/// What a program is given to read.
public struct StandardInput: Sendable {
    private let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// The standard input of this process. A file, a pipe or a terminal, it is read when somebody asks, on a thread of its own.
    public init() {
        self.init(descriptor: 0)
    }

    /// An input that is read elsewhere.
    ///
    /// - Parameter read: Gives the next bytes, none at the end. It returns soon when its task is cancelled, with whatever.
    public init(read: @escaping @Sendable () async throws(StandardInputError) -> [UInt8]) {
        self.read = read
    }

    /// What comes from an open file of this process, which stays open.
    init(descriptor: Int32) {
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
