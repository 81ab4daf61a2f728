/// A state machine that reads the text of an address byte by byte.
struct IPAddressParser {
    private var bits: UInt128 = 0
    /// The number of finished groups of an IPv6 address.
    private var groups = 0
    /// The number of groups before the `::`.
    private var head: Int?
    /// The number of consecutive colons just read.
    private var colons = 0
    /// The numbers before the dots just read.
    private var dotted: UInt32 = 0
    private var dots = 0
    /// The number of digits in the current group or number.
    private var digits = 0
    /// The value of the digits as hexadecimal.
    private var group: UInt16 = 0
    /// The value of the digits as decimal; `nil` if they are not a number from 0 to 255 without leading zeros.
    private var decimal: UInt32? = 0

    /// Reads the next byte and returns whether the text can still be an address.
    mutating func read(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ":"): readColon()
        case UInt8(ascii: "."): readDot()
        default: byte.hexDigit.map { readDigit($0) } ?? false
        }
    }

    private mutating func readDigit(_ digit: UInt8) -> Bool {
        // Only a double colon may stand at the beginning.
        guard digits < 4, colons != 1 || groups > 0 else { return false }
        if let value = decimal {
            let isNumber = digit < 10 && (digits == 0 || value > 0)
            let next = value * 10 + UInt32(digit)
            decimal = isNumber && next <= 255 ? next : nil
        }
        group = group << 4 | UInt16(digit)
        digits += 1
        colons = 0
        return true
    }

    private mutating func readDot() -> Bool {
        guard digits > 0, dots < 3, let decimal else { return false }
        dotted = dotted << 8 | decimal
        dots += 1
        beginDigits()
        return true
    }

    private mutating func readColon() -> Bool {
        guard dots == 0 else { return false }
        if digits > 0 {
            guard groups < 7 else { return false }
            finishGroup()
            colons = 1
            return true
        }
        colons += 1
        guard colons == 2 else { return colons == 1 }
        guard head == nil else { return false }
        head = groups
        return true
    }

    private mutating func finishGroup() {
        bits = bits << 16 | UInt128(group)
        groups += 1
        beginDigits()
    }

    private mutating func beginDigits() {
        digits = 0
        group = 0
        decimal = 0
    }

    /// The address, if the text ends here; `nil` if it is incomplete.
    var address: IPAddress? {
        var (bits, groups) = (bits, groups)
        if dots > 0 {
            guard dots == 3, digits > 0, let decimal else { return nil }
            let embedded = dotted << 8 | decimal
            if groups == 0, head == nil { return IPAddress(ipv4: embedded) }
            bits = bits << 32 | UInt128(embedded)
            groups += 2
        } else if digits > 0 {
            bits = bits << 16 | UInt128(group)
            groups += 1
        } else {
            guard colons == 2 else { return nil }
        }
        guard let head else { return groups == 8 ? IPAddress(ipv6: bits) : nil }
        guard groups < 8 else { return nil }
        let tailBits = UInt128(16 * (groups - head))
        return IPAddress(ipv6: (bits >> tailBits) << UInt128(128 - 16 * head) | bits & ((1 << tailBits) - 1))
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
}
