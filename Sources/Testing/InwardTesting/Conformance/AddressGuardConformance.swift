import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check of the requirements for a client that checks addresses, as `AddressGuardable` describes them.
///
/// Start a test server on a loopback address that answers as a ``ConformanceUpstream`` specifies, and pass a closure that creates
/// the client with a resolver of the check:
///
/// ```swift
/// func checkGuard(
///     of makeClient: @escaping @Sendable (any HostResolver) -> any DataFetcher,
///     against server: URL
/// ) async throws {
///     try await AddressGuardConformance(server: server, makeClient: makeClient).check()
/// }
/// ```
///
/// The check requires that:
///
/// - a host is looked up once for each request, so that a resolver that changes its answers cannot divert the connection;
/// - one refused address among several refuses the request, and a refused request is not sent;
/// - the server receives the name of the host, not the address;
/// - redirects pass the same checks;
/// - waits for a lookup end when the task is cancelled or its deadline passes;
/// - refusals name the rule, and do not contain addresses that a name resolved to;
/// - policies add up, and a trusted origin is not looked up.
///
/// The check waits 10 seconds for each wait that does not end. A client that never returns can make it hang, so give the test a
/// time limit.
public struct AddressGuardConformance: Sendable {
    let server: URL
    let makeClient: @Sendable (any HostResolver) -> any DataFetcher
    /// How long a wait may go on after it should have ended.
    var patience = Duration.seconds(10)

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - server: The base URL of the server, with the scheme `http`, an IPv4 loopback address and a port.
    ///   - makeClient: Creates a client that looks up hosts with the given resolver.
    public init(server: URL, makeClient: @escaping @Sendable (any HostResolver) -> any DataFetcher) {
        self.server = server
        self.makeClient = makeClient
    }

    /// Checks clients.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check() async throws(ConformanceFailure) {
        guard let stage = AddressGuardStage(server, makeClient) else {
            throw ConformanceFailure(violations: ["The URL of the server must have an IPv4 address and a port."])
        }
        var violations: [String] = []
        do {
            violations += try await stage.lookupViolations()
            violations += try await stage.addressViolations()
            violations += try await stage.spellingViolations()
            violations += try await stage.redirectViolations()
            violations += try await stage.waitViolations(patience)
            violations += try await stage.trustViolations()
        } catch {
            violations.append("The client must apply the policies of the check, but did not: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }
}

/// A server for a check, a name for it, and addresses that a resolver can return for the name.
struct AddressGuardStage: Sendable {
    static let name = "guarded.example.org"

    let server: URL
    let port: Int
    let address: IPAddress
    let internalAddress: IPAddress
    let makeClient: @Sendable (any HostResolver) -> any DataFetcher

    init?(_ server: URL, _ makeClient: @escaping @Sendable (any HostResolver) -> any DataFetcher) {
        guard let port = server.port, let address = server.host().flatMap({ IPAddress($0) }),
            let internalAddress = IPAddress("10.17.34.51")
        else { return nil }
        self.server = server
        self.port = port
        self.address = address
        self.internalAddress = internalAddress
        self.makeClient = makeClient
    }

    /// Returns a policy for the name of the server at its port, and for addresses of this machine.
    func policy() throws(AddressPolicyError) -> AddressPolicy {
        try AddressPolicy(schemes: [.http], ports: [port], hosts: [Self.name], allowing: [.ipv4Loopback])
    }

    func guarded(_ resolver: any HostResolver) throws(AddressPolicyError) -> any DataFetcher {
        try makeClient(resolver).guarding(with: policy())
    }

    /// Returns a request to the server by its name.
    func request(_ path: String, at authority: String? = nil) -> DataRequest {
        DataRequest(url: URL(string: "http://\(authority ?? "\(Self.name):\(port)")/\(path)") ?? server)
    }

    /// Returns the number of requests that the server has received for a path.
    func count(_ path: String) async -> Int? {
        let counting = ConformanceUpstream.counting(request(path), at: server)
        let response = try? await makeClient(StubHostResolver([])).fetch(counting)
        return response.flatMap { Int(String(decoding: $0.body, as: UTF8.self)) }
    }

    /// Returns what is wrong with the outcome of a request that must be refused.
    func violations(
        _ outcome: Result<DataResponse, FetchError>,
        _ subject: String,
        by rule: AddressRefusal.Rule? = nil
    ) -> [String] {
        switch outcome {
        case .success(let response):
            return ["\(subject) must be refused, but was answered with \(response.status)."]
        case .failure(let error):
            guard error.reason == .addressRefused, let refusal = error.addressRefusal else {
                return ["\(subject) must be refused, but failed as \(error.reason): \(error)."]
            }
            var violations: [String] = []
            if let rule, refusal.rule != rule {
                violations.append("\(subject) must be refused by the rule \(rule), but was refused by \(refusal.rule).")
            }
            if error.wasSent {
                violations.append("\(subject) was refused, so its error must say that it was not sent.")
            }
            let text = "\(error) \(refusal)"
            let namesAddress = [internalAddress, address].contains { address in
                text.contains(address.description) && !subject.contains(address.description)
            }
            if namesAddress {
                violations.append("\(subject) was refused with a text that contains an address: \(text).")
            }
            return violations
        }
    }
}

extension DataFetcher {
    func outcome(of request: DataRequest) async -> Result<DataResponse, FetchError> {
        do throws(FetchError) {
            return .success(try await fetch(request))
        } catch {
            return .failure(error)
        }
    }
}
