import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The checks that a client makes before it connects. A client that conforms to ``AddressGuardable`` uses it for every request
/// and every redirect.
///
/// ```swift
/// struct CheckedClient: Sendable {
///     let addressGuard: AddressGuard
///     let resolver: any HostResolver
///     let connect: @Sendable (DataRequest, IPAddress?) async throws(FetchError) -> DataResponse
///
///     func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
///         try addressGuard.check(request)
///         // No addresses mean that the policy trusts the origin, whatever its host resolves to.
///         let addresses = try await addressGuard.addresses(for: request, resolvingWith: resolver)
///         return try await connect(request, addresses?[0])
///     }
/// }
/// ```
///
/// If there are several policies, each must allow the request.
public struct AddressGuard: Sendable {
    private typealias Lookups = SingleFlight<String, [IPAddress], HostResolutionError>

    private var policies: [AddressPolicy]
    // Concurrent requests to a host share a lookup, and no request waits for one beyond its deadline.
    private let lookups = Lookups(whenAbandoned: .cancel)

    /// Creates the checks of a policy.
    public init(_ policy: AddressPolicy) {
        policies = [policy]
    }

    /// Returns checks that also include those of another policy.
    ///
    /// ```swift
    /// let both = AddressGuard(.publicInternet).adding(try AddressPolicy(schemes: [.https]))
    /// ```
    public func adding(_ policy: AddressPolicy) -> Self {
        var both = self
        both.policies.append(policy)
        return both
    }

    /// Checks the URL of a request: scheme, user information, host and port, and the address if the host is one.
    ///
    /// ```swift
    /// try AddressGuard(.publicInternet).check(request)
    /// ```
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/addressRefused``.
    public func check(_ request: DataRequest) throws(FetchError) {
        do throws(AddressRefusal) {
            let target = URLTarget(request.url)
            for policy in policies { try policy.check(target) }
        } catch {
            throw FetchError(error, of: request)
        }
    }

    /// Looks up the addresses of a request's host, and checks each of them. One refused address refuses the request.
    ///
    /// Connect to one of these addresses, and to no other, but use the name of the host for TLS and the `Host` field. Call this
    /// method for each request, because names change their addresses.
    ///
    /// ```swift
    /// func publicAddresses(_ request: DataRequest, _ resolver: any HostResolver) async throws(FetchError) -> [IPAddress]? {
    ///     try await AddressGuard(.publicInternet).addresses(for: request, resolvingWith: resolver)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: A request that ``check(_:)`` allows.
    ///   - resolver: The resolver of host names. It is not asked if the host is an address.
    /// - Returns: The addresses, at least one; `nil` if the policies trust the origin, whatever its host resolves to.
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/addressRefused``; with ``FetchError/Reason/unreachable`` if there are
    ///   no addresses; with ``FetchError/Reason/cancelled`` or ``FetchError/Reason/timedOut`` if the wait for them ended.
    public func addresses(
        for request: DataRequest,
        resolvingWith resolver: any HostResolver
    ) async throws(FetchError) -> [IPAddress]? {
        let policies = policies.filter { $0.checksAddresses(of: request.url) }
        guard !policies.isEmpty else { return nil }
        let target = URLTarget(request.url)
        let addresses =
            switch try host(of: target, in: request) {
            case .address(let address): [address]
            case .name(let name): try await addresses(of: name, for: request, resolver)
            }
        do throws(AddressRefusal) {
            for policy in policies {
                for address in addresses { try policy.check(address, of: target.hostText) }
            }
        } catch {
            throw FetchError(error, of: request)
        }
        return addresses
    }

    private func host(of target: URLTarget, in request: DataRequest) throws(FetchError) -> WebHost {
        do throws(AddressRefusal) {
            return try target.host()
        } catch {
            throw FetchError(error, of: request)
        }
    }

    private func addresses(
        of name: String,
        for request: DataRequest,
        _ resolver: any HostResolver
    ) async throws(FetchError) -> [IPAddress] {
        let outcome = await lookups.outcome(for: name) { name throws(HostResolutionError) in
            try await resolver.addresses(of: name)
        }
        switch outcome {
        case .fulfilled(.success(let addresses)) where !addresses.isEmpty: return addresses
        case .fulfilled(.success): throw unreachable(request, because: "it has no addresses")
        case .fulfilled(.failure(let error)): throw unreachable(request, because: error.description)
        case .cancelled:
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        case .deadlinePassed:
            throw FetchError(
                .timedOut,
                request: request,
                explanation: "was not sent before the deadline",
                wasSent: false
            )
        }
    }

    private func unreachable(_ request: DataRequest, because reason: String) -> FetchError {
        FetchError(.unreachable, request: request, explanation: "could not reach the host: \(reason)")
    }
}
