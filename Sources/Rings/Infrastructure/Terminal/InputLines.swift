/// The lines of an input, in order, as they arrive.
///
/// The sequence reads only as much as it needs for the requested lines, in whole chunks. It ends when the input ends, or when
/// the task that requests the next line is cancelled.
///
/// ```swift
/// for try await line in StandardInput().lines(upTo: 1_024) {
///     print(line.number, line.bytes?.count ?? 0)
/// }
/// ```
public struct InputLines: AsyncSequence, Sendable {
    let byteLimit: Int
    let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// Returns an iterator. Iterators share the input: a line that one has read is not returned by another.
    public func makeAsyncIterator() -> Iterator {
        Iterator(splitter: InputLineSplitter(byteLimit: byteLimit), read: read)
    }

    /// An iterator over the lines.
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

        /// Returns the next line; `nil` after the last.
        ///
        /// - Throws: A ``StandardInputError`` if the input cannot be read.
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

        /// Returns the next line; `nil` after the last.
        ///
        /// - Throws: A ``StandardInputError`` if the input cannot be read.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StandardInputError) -> InputLine? {
            try await next()
        }
    }
}

/// A line of an input.
///
/// ```swift
/// func text(of line: InputLine) -> String {
///     guard let bytes = line.bytes else { return "Line \(line.number) is too long." }
///     return String(decoding: bytes, as: UTF8.self)
/// }
/// ```
public struct InputLine: Hashable, Sendable {
    /// The line number, starting at 1.
    public let number: Int
    /// The contents without the line feed and a carriage return before it; `nil` if the line exceeds the maximum length.
    public let bytes: [UInt8]?
}

/// Splits chunks of bytes into lines. It keeps the number of a line that is too long, but not its bytes.
struct InputLineSplitter {
    private let byteLimit: Int
    private var number = 1
    /// The beginning of the incomplete line.
    private var beginning: [UInt8] = []
    private var isTooLong = false
    private var lines: [InputLine] = []
    private var nextLine = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Adds the next bytes.
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

    /// Ends the input. The last line does not need a line feed.
    mutating func end() {
        if isTooLong || !beginning.isEmpty { endLine() }
    }

    /// Returns the next complete line; `nil` if there is none yet.
    mutating func popFirst() -> InputLine? {
        guard nextLine < lines.count else { return nil }
        defer { nextLine += 1 }
        return lines[nextLine]
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private mutating func extend(by bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        // A trailing carriage return does not count. Subtracting instead of adding avoids overflow with a limit of `Int.max`.
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
