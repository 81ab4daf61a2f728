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
