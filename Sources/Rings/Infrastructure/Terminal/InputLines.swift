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

/// A line of what a program is given to read.
public struct InputLine: Hashable, Sendable {
    /// Its number, from 1 on.
    public let number: Int
    /// What it says, without its line feed and a carriage return before that; `nil` if it is longer than a line may be.
    public let bytes: [UInt8]?
}

/// Makes lines of bytes that come in parts. Of a line that is too long it keeps nothing but its number.
struct InputLineSplitter {
    private let byteLimit: Int
    private var number = 1
    /// The beginning of the line that is not at its end.
    private var beginning: [UInt8] = []
    private var isTooLong = false
    private var lines: [InputLine] = []
    private var nextLine = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Takes the next bytes.
    mutating func add(_ bytes: [UInt8]) {
        lines.removeFirst(nextLine)
        nextLine = 0
        var rest = bytes[...]
        while let end = rest.firstIndex(of: Self.lineFeed) {
            extend(by: rest[..<end])
            endLine()
            rest = rest[(end + 1)...]
        }
        extend(by: rest)
    }

    /// Takes it that nothing comes any more: a last line may do without a line feed.
    mutating func end() {
        if isTooLong || !beginning.isEmpty { endLine() }
    }

    /// The next line that is at its end; `nil` if there is none yet.
    mutating func popFirst() -> InputLine? {
        guard nextLine < lines.count else { return nil }
        defer { nextLine += 1 }
        return lines[nextLine]
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private mutating func extend(by bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        // The carriage return that may stand at the end is none of the line. The limit may be the largest number there is.
        guard bytes.count - 1 <= byteLimit - beginning.count else {
            isTooLong = true
            beginning = []
            return
        }
        beginning += bytes
    }

    private mutating func endLine() {
        if beginning.last == Self.carriageReturn { beginning.removeLast() }
        lines.append(InputLine(number: number, bytes: isTooLong || beginning.count > byteLimit ? nil : beginning))
        number += 1
        beginning = []
        isTooLong = false
    }
}
