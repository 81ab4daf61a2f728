/// An address that was read from a text.
struct ParsedIPAddress {
    /// The address.
    let address: IPAddress
    /// Whether the text is the one that ``IPAddress/description`` writes (RFC 5952).
    let isCanonical: Bool

    /// Parses an address without allocating memory; `nil` if the text is not an address.
    init?(_ bytes: Span<UInt8>) {
        if let bits = bytes.dottedDecimal(from: 0) {
            // Only one spelling of an IPv4 address is read at all.
            self.init(IPAddress(ipv4: bits), isCanonical: true)
        } else {
            self.init(ipv6: bytes)
        }
    }

    private init(_ address: IPAddress, isCanonical: Bool) {
        self.address = address
        self.isCanonical = isCanonical
    }

    private init?(ipv6 bytes: Span<UInt8>) {
        var bits: UInt128 = 0
        var groups = 0
        /// The number of groups before the `::`.
        var head: Int?
        var isDotted = false
        var isCanonical = true
        var position = 0
        if bytes.count >= 2, bytes[0] == UInt8(ascii: ":"), bytes[1] == UInt8(ascii: ":") {
            head = 0
            position = 2
        }
        while position < bytes.count {
            let start = position
            var group: UInt16 = 0
            while position < bytes.count, let digit = bytes[position].hexDigit {
                guard position - start < 4 else { return nil }
                group = group << 4 | UInt16(digit)
                isCanonical = isCanonical && !bytes[position].isUpperCase
                position += 1
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
                guard groups <= 6, let embedded = bytes.dottedDecimal(from: start) else { return nil }
                bits = bits << 32 | UInt128(embedded)
                groups += 2
                isDotted = true
                break
            }
            guard position > start, groups < 8 else { return nil }
            isCanonical = isCanonical && (position == start + 1 || bytes[start] != UInt8(ascii: "0"))
            bits = bits << 16 | UInt128(group)
            groups += 1
            if position == bytes.count { break }
            // A colon, and another group or colon after it.
            guard bytes[position] == UInt8(ascii: ":"), position + 1 < bytes.count else { return nil }
            position += 1
            if bytes[position] == UInt8(ascii: ":") {
                guard head == nil else { return nil }
                head = groups
                position += 1
            }
        }
        if let head {
            guard groups < 8 else { return nil }
            let tailBits = UInt128(16 * (groups - head))
            bits = (bits >> tailBits) << UInt128(128 - 16 * head) | bits & ((1 << tailBits) - 1)
        } else if groups != 8 {
            return nil
        }
        address = IPAddress(ipv6: bits)
        let omitted = head.map { $0..<($0 + 8 - groups) } ?? 0..<0
        self.isCanonical = isCanonical && omitted == address.longestRunOfZeros && isDotted == address.isMapped
    }
}

extension Span<UInt8> {
    /// Reads four decimal numbers from a position to the end, each from 0 to 255 and without leading zeros.
    fileprivate func dottedDecimal(from start: Int) -> UInt32? {
        var bits: UInt32 = 0
        var position = start
        for part in 0..<4 {
            if part > 0 {
                guard position < count, self[position] == UInt8(ascii: ".") else { return nil }
                position += 1
            }
            let first = position
            var number: UInt32 = 0
            while position < count, self[position].isDigit {
                number = number * 10 + UInt32(self[position] - UInt8(ascii: "0"))
                guard number <= 255 else { return nil }
                position += 1
            }
            guard position > first, position == first + 1 || self[first] != UInt8(ascii: "0") else { return nil }
            bits = bits << 8 | number
        }
        return position == count ? bits : nil
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII; `nil` if the byte is something else.
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    fileprivate var isUpperCase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}
