extension IPAddress: LosslessStringConvertible {
    /// Parses an address; `nil` if the text has any other form than these two:
    ///
    /// - IPv4: four decimal numbers without leading zeros, such as `192.0.2.1`.
    /// - IPv6: the forms of RFC 4291 section 2.2, such as `2001:db8::1` and `64:ff9b::192.0.2.1`, in either case.
    ///
    /// Brackets and zone identifiers are not part of an address.
    ///
    /// ```swift
    /// let address = IPAddress("192.0.2.1")
    /// let octal = IPAddress("0300.0.2.1")  // nil, because programs disagree about its meaning
    /// ```
    public init?(_ description: String) {
        guard let parsed = description.withBytes({ ParsedIPAddress($0) }) else { return nil }
        self = parsed.address
    }

    /// Parses an address in canonical form; `nil` if the text is another spelling of an address, such as `::FFFF` or `0::1`.
    init?(canonical text: Span<UInt8>) {
        guard let parsed = ParsedIPAddress(text), parsed.isCanonical else { return nil }
        self = parsed.address
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text (RFC 5952): lowercase, without leading zeros, with the longest run of zeros shortened. IPv4-mapped
    /// addresses end in dotted decimal.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(39)
        writeText { text.append($0) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes each byte of the canonical text to a function.
    private func writeText(to write: (UInt8) -> Void) {
        guard family == .ipv6 else { return writeDecimals(to: write) }
        let zeros = longestRunOfZeros
        var index = 0
        while index < (isMapped ? 6 : 8) {
            if zeros.contains(index) {
                write(UInt8(ascii: ":"))
                write(UInt8(ascii: ":"))
                index = zeros.upperBound
            } else {
                if index > 0, index != zeros.upperBound { write(UInt8(ascii: ":")) }
                writeHex(group(index), to: write)
                index += 1
            }
        }
        if isMapped {
            write(UInt8(ascii: ":"))
            writeDecimals(to: write)
        }
    }

    /// Whether the address ends in dotted decimal, as RFC 5952 section 5 recommends for well-known prefixes of embedded addresses.
    var isMapped: Bool { bits >> 32 == 0xFFFF }

    private func group(_ index: Int) -> UInt16 { UInt16(truncatingIfNeeded: bits >> UInt128(112 - 16 * index)) }

    /// The first of the longest runs of at least two groups that are zero; an empty range at 0 if no run is that long.
    var longestRunOfZeros: Range<Int> {
        var longest = 0..<0
        var start = 0
        for index in 0..<8 {
            if group(index) != 0 {
                start = index + 1
            } else if index + 1 - start > max(1, longest.count) {
                longest = start..<index + 1
            }
        }
        return longest
    }

    private func writeHex(_ group: UInt16, to write: (UInt8) -> Void) {
        var shift = 12
        while shift > 0, group >> UInt16(shift) == 0 { shift -= 4 }
        while shift >= 0 {
            let digit = UInt8(group >> UInt16(shift) & 0xF)
            write(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }

    /// Passes the lowest 32 bits as dotted decimal to a function.
    private func writeDecimals(to write: (UInt8) -> Void) {
        for shift: UInt128 in [24, 16, 8, 0] {
            let part = UInt8(truncatingIfNeeded: bits >> shift)
            if part >= 100 { write(UInt8(ascii: "0") + part / 100) }
            if part >= 10 { write(UInt8(ascii: "0") + part / 10 % 10) }
            write(UInt8(ascii: "0") + part % 10)
            if shift > 0 { write(UInt8(ascii: ".")) }
        }
    }
}
