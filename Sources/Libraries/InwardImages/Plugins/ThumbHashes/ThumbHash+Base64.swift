extension ThumbHash {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The bytes as a text, some 28 to 36 characters that a page or a record can hold (RFC 4648, section 4).
    public var base64: String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let digit = Self.digits[Int(bits >> UInt32(6 * (3 - place)) & 63)]
                text.append(place <= group.count ? digit : Self.padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a text that ``base64`` made, or anything else that makes the same of it; `nil` if it is none, or not of a hash.
    public init?(base64: String) {
        let text = Array(base64.utf8)
        let digits = text.prefix { $0 != Self.padding }
        guard text.count % 4 == 0, text.count - digits.count < 3 else { return nil }
        guard text[digits.endIndex...].allSatisfy({ $0 == Self.padding }) else { return nil }
        var bytes: [UInt8] = []
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for character in digits {
            guard let digit = Self.digits.firstIndex(of: character) else { return nil }
            (bits, bitCount) = (bits << 6 | UInt32(digit), bitCount + 6)
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(bits >> bitCount))
            bits &= 1 << bitCount - 1
        }
        // What is left over of the last digit means nothing, and has to be zero, or two texts would mean the same.
        guard bits == 0 else { return nil }
        self.init(bytes: bytes)
    }
}
