/// The part of a representation that a cache has (RFC 9110 section 14.4).
struct StoredRange: Hashable, Sendable {
    /// The positions of the bytes.
    let bytes: Range<Int>
    /// The length of the whole representation; `nil` if it is unknown.
    let wholeCount: Int?

    init(bytes: Range<Int>, wholeCount: Int?) {
        self.bytes = bytes
        self.wholeCount = wholeCount
    }

    /// Creates the range of a whole representation.
    init(whole count: Int) {
        self.init(bytes: 0..<count, wholeCount: count)
    }

    /// Creates the range of a body; `nil` if the body is not as long as its range.
    init?(_ range: ContentRange, byteCount: Int) {
        guard case .part(let positions, let total) = range, byteCount > 0,
            positions.lowerBound.addingReportingOverflow(byteCount - 1) == (positions.upperBound, false)
        else { return nil }
        self.init(bytes: positions.lowerBound..<positions.lowerBound + byteCount, wholeCount: total)
    }

    /// Whether this is all of the representation.
    var isWhole: Bool { bytes.lowerBound == 0 && bytes.upperBound == wholeCount }

    /// The value of the field.
    var fieldValue: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(wholeCount.map(String.init) ?? "*")"
    }
}

/// The part of a representation that a request asks for (RFC 9110 section 14.2).
enum RequestedRange: Hashable, Sendable {
    /// From a position to another, which is `nil` for the end.
    case from(Int, through: Int?)
    /// The last bytes.
    case last(Int)

    /// Reads the value of `Range`; `nil` if it is not a single range of bytes. A cache answers that with the whole, or asks the
    /// upstream.
    init?(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let limits = Substring(parts[1].utf8.trimmed).split(separator: "-", omittingEmptySubsequences: false)
        guard limits.count == 2 else { return nil }
        if limits[0].isEmpty {
            guard let count = Self.position(limits[1]) else { return nil }
            self = .last(count)
        } else {
            guard let first = Self.position(limits[0]) else { return nil }
            let last = limits[1].isEmpty ? nil : Self.position(limits[1])
            guard limits[1].isEmpty || last.map({ first <= $0 }) == true else { return nil }
            self = .from(first, through: last)
        }
    }

    /// Reads a position; `nil` if it is not a number, or so high that calculations could overflow.
    private static func position(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// Returns the requested bytes of a representation; `nil` if it has none of them.
    func bytes(of count: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last): first < count ? first..<min(count, (last ?? count - 1) + 1) : nil
        case .last(let length): length > 0 && count > 0 ? max(0, count - length)..<count : nil
        }
    }
}
