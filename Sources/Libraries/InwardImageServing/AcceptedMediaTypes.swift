/// The media types that a client accepts, from the field `Accept` (RFC 9110 section 12.5.1).
struct AcceptedMediaTypes {
    /// A field that is longer counts as absent.
    static let maximumLength = 4_096

    private struct Member {
        /// The type and the subtype in lower case, or `*`.
        let type: String
        let subtype: String
        /// The quality in thousandths.
        let quality: Int
    }

    private var members: [Member] = []

    /// Reads the values of the fields. Malformed members are ignored.
    init(_ values: [String]) {
        guard values.reduce(0, { $0 + $1.utf8.count }) <= Self.maximumLength else { return }
        for value in values {
            for text in value.utf8.listElements {
                if let member = Self.member(text) { members.append(member) }
            }
        }
    }

    /// Returns the quality of a media type in thousandths, 0 if it is not acceptable.
    ///
    /// The most specific member decides. Without any member, everything is acceptable.
    ///
    /// - Parameters:
    ///   - mediaType: The media type in lower case, such as `image/webp`.
    ///   - isMentioned: Whether only a member that names the type counts, and no wildcard.
    /// - Returns: The quality.
    func quality(of mediaType: String, mentioned isMentioned: Bool = false) -> Int {
        let type = mediaType.prefix { $0 != "/" }
        let subtype = mediaType.dropFirst(type.count + 1)
        func best(_ type: Substring, _ subtype: Substring) -> Int? {
            members.filter { $0.type == type && $0.subtype == subtype }.map(\.quality).max()
        }
        if let quality = best(type, subtype) { return quality }
        if isMentioned { return 0 }
        return best(type, "*") ?? best("*", "*") ?? (members.isEmpty ? 1_000 : 0)
    }

    /// Reads a member. It is `nil` if it is malformed, or has a parameter, because such a member does not match types without it.
    private static func member(_ text: Substring.UTF8View) -> Member? {
        let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(\.trimmed)
        let names = parts[0].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) }) else {
            return nil
        }
        var quality: Int?
        for part in parts.dropFirst() where !part.isEmpty {
            let isQuality =
                part.count >= 2 && part.first.map { $0 | 0x20 } == UInt8(ascii: "q")
                && part.dropFirst().first == UInt8(ascii: "=")
            // What follows the quality is an extension that RFC 9110 no longer has.
            if quality != nil, !isQuality { continue }
            guard isQuality, quality == nil, let number = part.dropFirst(2).qualityInThousandths else { return nil }
            quality = number
        }
        let (type, subtype) = (String(Substring(names[0])).lowercased(), String(Substring(names[1])).lowercased())
        // `*/webp` is malformed.
        guard type != "*" || subtype == "*" else { return nil }
        return Member(type: type, subtype: subtype, quality: quality ?? 1_000)
    }
}

extension String.UTF8View {
    /// The parts between the commas that are not in quoted strings (RFC 9110 section 5.6).
    fileprivate var listElements: [Substring.UTF8View] {
        var elements: [Substring.UTF8View] = []
        var (start, isQuoted, isEscaped) = (startIndex, false, false)
        for index in indices {
            let byte = self[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                elements.append(self[start..<index])
                start = self.index(after: index)
            }
        }
        return elements + [self[start...]]
    }
}

extension Substring.UTF8View {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: Self {
        var text = self
        while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }

    /// The text as a quality (RFC 9110 section 12.4.2), or `nil`: `0` or `1`, with up to three decimals, and at most 1.
    fileprivate var qualityInThousandths: Int? {
        guard let first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), count <= 5 else { return nil }
        var quality = first == UInt8(ascii: "1") ? 1_000 : 0
        guard count > 1 else { return quality }
        guard dropFirst().first == UInt8(ascii: ".") else { return nil }
        var unit = 100
        for digit in dropFirst(2) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            quality += Int(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return quality <= 1_000 ? quality : nil
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a token (RFC 9110 section 5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
