/// A block of IP addresses with a common prefix, in the notation of RFC 4632 and RFC 4291 section 2.3.
///
/// ```swift
/// if let office = IPAddressBlock("10.20.0.0/16"), let printer = IPAddress("10.20.3.4") {
///     print(office.contains(printer))  // true
/// }
/// ```
public struct IPAddressBlock: Hashable, Sendable {
    /// The first address.
    public let first: IPAddress
    /// The number of leading bits that all addresses have in common.
    public let prefixLength: Int
    /// The bits of the prefix, all set.
    private let mask: UInt128

    /// Creates the block of a prefix whose other bits are known to be zero.
    private init(unchecked first: IPAddress, prefixLength: Int) {
        self.first = first
        self.prefixLength = prefixLength
        mask = .max << UInt128(first.family.bitCount - prefixLength)
    }

    /// Returns a block of IPv4 addresses.
    static func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, length: Int) -> Self {
        let bits = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
        return Self(unchecked: IPAddress(ipv4: bits), prefixLength: length)
    }

    /// Returns a block of IPv6 addresses.
    ///
    /// - Parameters:
    ///   - head: The first 64 bits.
    ///   - tail: The last 64 bits.
    ///   - length: The length of the prefix.
    /// - Returns: The block.
    static func v6(_ head: UInt64, _ tail: UInt64 = 0, length: Int) -> Self {
        Self(unchecked: IPAddress(ipv6: UInt128(head) << 64 | UInt128(tail)), prefixLength: length)
    }

    /// Returns whether an address is in the block.
    ///
    /// ```swift
    /// print(IPAddress("127.0.0.1").map(IPAddressBlock.ipv4Loopback.contains) == true)  // true
    /// ```
    public func contains(_ address: IPAddress) -> Bool {
        (address.bits ^ first.bits) & mask == 0 && address.family == first.family
    }
}

extension IPAddressBlock {
    /// Returns whether an address of the block begins with the byte.
    func contains(firstByte byte: UInt8) -> Bool {
        let shift = UInt128(first.family.bitCount - 8)
        return (UInt128(byte) << shift ^ first.bits) & mask & 0xFF << shift == 0
    }
}

extension IPAddressBlock: LosslessStringConvertible {
    /// Parses a block such as `10.0.0.0/8`; `nil` if the text has another form, or if bits after the prefix are not zero.
    ///
    /// ```swift
    /// let block = IPAddressBlock("fd12:3456:789a::/48")
    /// let typo = IPAddressBlock("10.20.0.0/8")  // nil, because the second number is not part of the prefix
    /// ```
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = IPAddress(String(parts[0])), let length = UInt8(parts[1]),
            String(length) == parts[1], length <= first.family.bitCount
        else { return nil }
        self.init(unchecked: first, prefixLength: Int(length))
        guard first.bits & mask == first.bits else { return nil }
    }

    /// The first address and the length of the prefix, such as `10.0.0.0/8`.
    public var description: String { "\(first)/\(prefixLength)" }
}

extension IPAddressBlock {
    /// This machine, over IPv4 (RFC 1122 section 3.2.1.3).
    public static let ipv4Loopback = v4(127, 0, 0, 0, length: 8)
    /// This machine, over IPv6 (RFC 4291 section 2.5.3).
    public static let ipv6Loopback = v6(0, 1, length: 128)
    /// Private IPv4 networks of up to 16,777,216 addresses (RFC 1918).
    public static let privateUse10 = v4(10, 0, 0, 0, length: 8)
    /// Private IPv4 networks of up to 1,048,576 addresses (RFC 1918).
    public static let privateUse172 = v4(172, 16, 0, 0, length: 12)
    /// Private IPv4 networks of up to 65,536 addresses (RFC 1918).
    public static let privateUse192 = v4(192, 168, 0, 0, length: 16)
    /// Private IPv6 networks (RFC 4193).
    public static let uniqueLocal = v6(0xFC00_0000_0000_0000, length: 7)
    /// IPv4 addresses as hosts without IPv4 see them through NAT64 and DNS64 (RFC 6052).
    public static let nat64 = v6(0x0064_FF9B_0000_0000, length: 96)
}
