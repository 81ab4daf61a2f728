public import InwardFetching
import Synchronization

/// A resolver that returns prescribed addresses, which may change with each lookup, and records the lookups.
///
/// ```swift
/// let rebinding = StubHostResolver { _, count throws(HostResolutionError) in
///     [IPAddress(count == 1 ? "93.184.216.34" : "127.0.0.1")].compactMap(\.self)
/// }
/// ```
public final class StubHostResolver: HostResolver {
    private let recorded = Mutex<[String]>([])
    private let answer: @Sendable (_ host: String, _ count: Int) async throws(HostResolutionError) -> [IPAddress]

    /// Creates a resolver that answers each lookup with a closure.
    ///
    /// - Parameter answer: Returns the addresses of a host, given the number of lookups so far, including this one.
    public init(
        _ answer: @escaping @Sendable (_ host: String, _ count: Int) async throws(HostResolutionError) -> [IPAddress]
    ) {
        self.answer = answer
    }

    /// Creates a resolver that returns the same addresses for every host.
    public convenience init(_ addresses: [IPAddress]) {
        self.init { _, _ throws(HostResolutionError) in addresses }
    }

    /// The hosts that were looked up so far, in order.
    public var lookups: [String] { recorded.withLock(\.self) }

    /// Records the lookup, and returns the prescribed addresses.
    ///
    /// - Throws: The prescribed `HostResolutionError`.
    public func addresses(of host: String) async throws(HostResolutionError) -> [IPAddress] {
        let count = recorded.withLock { lookups in
            lookups.append(host)
            return lookups.count
        }
        return try await answer(host, count)
    }
}
