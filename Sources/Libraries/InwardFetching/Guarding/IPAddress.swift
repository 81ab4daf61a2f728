/// An IPv4 or IPv6 address.
///
/// ```swift
/// if let address = IPAddress("2001:db8:0:0::1") {
///     print(address)  // 2001:db8::1
///     print(address.isPublic)  // false, because the range is for documentation
/// }
/// ```
///
/// An IPv4 address and the IPv6 address that embeds it, such as `::ffff:192.0.2.1`, are not equal.
public struct IPAddress: Hashable, Sendable {
    /// The versions of the Internet Protocol.
    ///
    /// ```swift
    /// print(IPAddress("192.0.2.1")?.family == .ipv4)  // true
    /// ```
    public enum Family: Hashable, Sendable {
        /// Addresses of 32 bits.
        case ipv4
        /// Addresses of 128 bits.
        case ipv6
    }

    /// The version of the Internet Protocol.
    public let family: Family
    /// The address as a number. An IPv4 address is in the lowest 32 bits.
    let bits: UInt128

    /// Creates an IPv4 address.
    init(ipv4 bits: UInt32) {
        family = .ipv4
        self.bits = UInt128(bits)
    }

    /// Creates an IPv6 address.
    init(ipv6 bits: UInt128) {
        family = .ipv6
        self.bits = bits
    }

    /// Creates an address from its bytes in network order; `nil` unless there are 4 or 16.
    ///
    /// ```swift
    /// print(IPAddress(bytes: [192, 0, 2, 1])?.description ?? "no address")  // 192.0.2.1
    /// ```
    public init?(bytes: some Collection<UInt8>) {
        let count = bytes.count
        guard count == 4 || count == 16 else { return nil }
        family = count == 4 ? .ipv4 : .ipv6
        bits = bytes.reduce(0) { bits, byte in bits << 8 | UInt128(byte) }
    }

    /// The 4 or 16 bytes in network order.
    public var bytes: [UInt8] {
        stride(from: family.bitCount - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt128($0)) }
    }

    /// Whether the address is on the public internet, as ``AddressPolicy/publicInternet`` judges it.
    ///
    /// ```swift
    /// print(IPAddress("8.8.8.8")?.isPublic == true)  // true
    /// print(IPAddress("::ffff:10.0.0.1")?.isPublic == true)  // false
    /// ```
    public var isPublic: Bool { SpecialAddressRange.rule(refusing: self, allowing: []) == nil }
}

extension IPAddress.Family {
    /// The number of bits in an address.
    var bitCount: Int {
        switch self {
        case .ipv4: 32
        case .ipv6: 128
        }
    }
}
