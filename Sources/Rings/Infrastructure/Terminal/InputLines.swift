/// The lines of what a program is given to read, one after the other, as they come.
///
/// No more is read than is asked for, but for the part in which a line ends. It ends where the input does, and when the task is
/// cancelled that asks for the next line.
public struct InputLines: AsyncSequence, Sendable {
    let byteLimit: Int
    let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// Makes an iterator. What one has read no other gets.
    public func makeAsyncIterator() -> Iterator {
        Iterator(splitter: InputLineSplitter(byteLimit: byteLimit), read: read)
    }

    /// Gives the lines one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var splitter: InputLineSplitter
        fileprivate let read: @Sendable () async throws(StandardInputError) -> [UInt8]
        private var isAtEnd = false

        fileprivate init(
            splitter: InputLineSplitter,
            read: @escaping @Sendable () async throws(StandardInputError) -> [UInt8]
        ) {
            self.splitter = splitter
            self.read = read
        }

        /// The next line; `nil` behind the last.
        ///
        /// - Throws: a ``StandardInputError`` if the input cannot be read.
        public mutating func next() async throws(StandardInputError) -> InputLine? {
            while !Task.isCancelled {
                if let line = splitter.popFirst() { return line }
                guard !isAtEnd else { return nil }
                let bytes = try await read()
                guard !Task.isCancelled else { break }
                if bytes.isEmpty {
                    isAtEnd = true
                    splitter.end()
                } else {
                    splitter.add(bytes)
                }
            }
            return nil
        }

        /// The next line; `nil` behind the last.
        ///
        /// - Throws: a ``StandardInputError`` if the input cannot be read.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StandardInputError) -> InputLine? {
            try await next()
        }
    }
}
