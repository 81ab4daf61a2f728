package import InwardFetching
import InwardTesting
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A client of a network in memory. It looks up hosts, connects to addresses, follows redirects, and can be guarded.
package final class NetworkDataFetcher: AddressGuardable {
    /// A connection that the client made.
    package struct Connection: Hashable, Sendable {
        package let address: IPAddress
        package let request: DataRequest
    }

    /// A mistake that a client can make.
    package enum Flaw: CaseIterable, Sendable {
        case looksUpAgain
        case checksOneAddress
        case checksOnlyTheFirstRequest
        case keepsAddresses
        case checksAfterConnecting
        case sendsTheAddressAsHost
        case waitsForLookups
        case looksUpRefusedHosts
        case looksUpTrustedHosts
        case replacesPolicies
        case quotesAddresses
    }

    private final class Log: Sendable {
        let connections = Mutex<[Connection]>([])
        let kept = Mutex<[IPAddress]?>(nil)
    }

    private let resolver: any HostResolver
    private let flaw: Flaw?
    private let answer: @Sendable (Connection) throws(FetchError) -> DataResponse
    private let log: Log
    private let policies: [AddressPolicy]
    private let addressGuard: AddressGuard?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - resolver: Looks up hosts.
    ///   - flaw: A mistake to make, or `nil` for none.
    ///   - answer: Returns the response of the server at an address.
    package convenience init(
        resolver: any HostResolver,
        flaw: Flaw? = nil,
        answer: @escaping @Sendable (Connection) throws(FetchError) -> DataResponse
    ) {
        self.init(resolver, flaw, answer, Log(), [])
    }

    private init(
        _ resolver: any HostResolver,
        _ flaw: Flaw?,
        _ answer: @escaping @Sendable (Connection) throws(FetchError) -> DataResponse,
        _ log: Log,
        _ policies: [AddressPolicy]
    ) {
        self.resolver = resolver
        self.flaw = flaw
        self.answer = answer
        self.log = log
        self.policies = policies
        addressGuard = policies.first.map { policies.dropFirst().reduce(AddressGuard($0)) { $0.adding($1) } }
    }

    /// The connections so far, in order, also of the guarded clients that were made of this one.
    package var connections: [Connection] { log.connections.withLock(\.self) }

    package var honorsDeadlines: Bool { true }

    package func guarded(by policy: AddressPolicy) -> any DataFetcher {
        NetworkDataFetcher(resolver, flaw, answer, log, flaw == .replacesPolicies ? [policy] : policies + [policy])
    }

    package func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if flaw == .checksOnlyTheFirstRequest { try await check(request) }
        return try await RedirectPolicy.followed(upTo: 5).answer(
            to: request,
            guardedBy: flaw == .checksOnlyTheFirstRequest ? nil : addressGuard
        ) { next throws(FetchError) in
            try await send(next)
        }
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if let problem = request.problem { throw FetchError(.invalidRequest, request: request, explanation: problem) }
        if flaw == .checksAfterConnecting { _ = try await connect(request, to: anyAddress(of: request)) }
        if flaw == .looksUpRefusedHosts { _ = try await anyAddress(of: request) }
        guard flaw != .checksOnlyTheFirstRequest, let addresses = try await check(request) else {
            return try await connect(request, to: anyAddress(of: request))
        }
        if flaw == .looksUpAgain { return try await connect(request, to: anyAddress(of: request)) }
        return try await connect(request, to: addresses[0])
    }

    @discardableResult
    private func check(_ request: DataRequest) async throws(FetchError) -> [IPAddress]? {
        guard let addressGuard else { return nil }
        try addressGuard.check(request)
        switch flaw {
        case .keepsAddresses:
            if let kept = log.kept.withLock(\.self) { return kept }
            let addresses = try await addressGuard.addresses(for: request, resolvingWith: resolver)
            log.kept.withLock { $0 = addresses }
            return addresses
        case .checksOneAddress:
            let first = StubHostResolver { [resolver] host, _ throws(HostResolutionError) in
                Array(try await resolver.addresses(of: host).prefix(1))
            }
            return try await addressGuard.addresses(for: request, resolvingWith: first)
        case .waitsForLookups:
            _ = try await anyAddress(of: request)
        case .looksUpTrustedHosts:
            if policies.contains(where: { !$0.checksAddresses }) { _ = try? await resolver.addresses(of: "trusted") }
        case .quotesAddresses:
            do {
                return try await addressGuard.addresses(for: request, resolvingWith: resolver)
            } catch {
                let addresses = try? await resolver.addresses(of: request.url.host() ?? "")
                throw FetchError(
                    error.reason,
                    request: request,
                    explanation: "\(error.explanation), \(addresses ?? [])"
                )
            }
        default: break
        }
        return try await addressGuard.addresses(for: request, resolvingWith: resolver)
    }

    /// Returns the address of a host without checking it.
    private func anyAddress(of request: DataRequest) async throws(FetchError) -> IPAddress {
        let host = request.url.host() ?? ""
        if let address = IPAddress(host) { return address }
        do throws(HostResolutionError) {
            if let address = try await resolver.addresses(of: host).first { return address }
            throw HostResolutionError("no addresses")
        } catch {
            throw FetchError(.unreachable, request: request, explanation: "could not reach the host: \(error)")
        }
    }

    private func connect(_ request: DataRequest, to address: IPAddress) async throws(FetchError) -> DataResponse {
        var request = request
        let host = flaw == .sendsTheAddressAsHost ? "\(address)" : request.url.host() ?? ""
        request.headerFields[.host] = host + (request.url.port.map { ":\($0)" } ?? "")
        let connection = Connection(address: address, request: request)
        log.connections.withLock { $0.append(connection) }
        return try answer(connection)
    }
}
