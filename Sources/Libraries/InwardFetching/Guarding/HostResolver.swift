/// A port that looks up the addresses of a host.
///
/// Clients that check addresses ask it before each connection, and connect only to an address that it returned.
///
/// ```swift
/// struct FixedResolver: HostResolver {
///     let addresses: [IPAddress]
///
///     func addresses(of host: String) async throws(HostResolutionError) -> [IPAddress] { addresses }
/// }
/// ```
public protocol HostResolver: Sendable {
    /// Looks up all addresses of a host.
    ///
    /// When the task is cancelled, implementations return or throw soon. Callers do not wait for them beyond their deadlines.
    ///
    /// - Parameter host: A name in lowercase, without a dot at its end.
    /// - Returns: The addresses, the preferred one first.
    /// - Throws: A ``HostResolutionError`` if the addresses are unknown.
    func addresses(of host: String) async throws(HostResolutionError) -> [IPAddress]
}

/// An error that explains why the addresses of a host are unknown.
///
/// ```swift
/// let error = HostResolutionError("the name does not exist")
/// ```
public struct HostResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, as a part of a sentence. Requesters may see it.
    public let description: String

    /// Creates an error.
    ///
    /// - Parameter description: The reason, as a part of a sentence: `the name does not exist`. It must not contain addresses.
    public init(_ description: String) {
        self.description = description
    }
}
