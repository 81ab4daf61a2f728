/// A client that can check the addresses of its requests, so that ``DataFetcher/guarding(with:)`` can guard it.
///
/// Conform a client of your own that sends requests itself. A decorator needs no conformance: guarding reaches the fetcher that
/// it wraps.
///
/// ```swift
/// struct MirrorClient: AddressGuardable {
///     var addressGuard: AddressGuard?
///
///     func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
///         try addressGuard?.check(request)
///         return DataResponse()
///     }
///
///     func guarded(by policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher {
///         guard !policy.checksAddresses else {
///             throw AddressPolicyError("MirrorClient cannot connect to a chosen address. Use another client.")
///         }
///         return MirrorClient(addressGuard: addressGuard?.adding(policy) ?? AddressGuard(policy))
///     }
/// }
/// ```
///
/// Test an implementation that checks addresses with `AddressGuardConformance` of the product `InwardTesting`.
public protocol AddressGuardable: DataFetcher {
    /// Returns this client with a policy for the addresses of its requests, in addition to the policies that it has.
    ///
    /// The client checks each request and each redirect with an ``AddressGuard``, immediately before it connects. If the policy
    /// checks addresses, the client connects only to an address that was checked. It uses no proxy from the environment.
    ///
    /// - Throws: An ``AddressPolicyError`` if the client cannot apply the policy. It names the remedy.
    func guarded(by policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher
}

/// A data fetcher that sends requests only to addresses that a policy allows. Create it with ``DataFetcher/guarding(with:)``.
///
/// The client at the end of the pipeline makes the checks, so each redirect and each retry passes them. This layer lists the
/// policy in pipelines, and refuses URLs before the layers inside it do any work.
public struct GuardingDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher, whose client checks each request. If you set another one, only the URLs of requests are checked.
    public var base: any DataFetcher
    /// The policy.
    public let policy: AddressPolicy
    private let addressGuard: AddressGuard

    init(_ base: any DataFetcher, policy: AddressPolicy) throws(AddressPolicyError) {
        self.base = try base.guardingClients(with: policy)
        self.policy = policy
        addressGuard = AddressGuard(policy)
    }

    /// The description of this layer, with what the policy allows.
    public var layer: DataFetcherLayer { DataFetcherLayer(.addressGuard, "sends only to \(policy)") }

    /// Returns the wrapped fetcher's response if the policy allows the URL and all addresses of its host.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/addressRefused`` if the policy refuses the request or a redirect;
    ///   otherwise, errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try addressGuard.check(request)
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// Returns this fetcher with a policy for the addresses of its requests, against server-side request forgery.
    ///
    /// Use it for URLs that come from users or other services:
    ///
    /// ```swift
    /// let previews = try client.guarding(with: .publicInternet)
    /// ```
    ///
    /// The client at the end of the pipeline checks each request and each redirect immediately before it connects: the URL, and
    /// every address that the host resolves to. It connects only to a checked address. A refused request is not sent, not
    /// retried and not counted by circuit breakers.
    ///
    /// The policy adds to those of other guards inside. It reaches the clients of all decorators, also of a fallback, but not
    /// other fetchers that your own decorators hold. See <doc:GuardingAddresses>.
    ///
    /// - Parameter policy: The policy.
    /// - Returns: The guarded fetcher. It shares connections, circuit breakers and limits with this fetcher, but coalesces only
    ///   its own requests.
    /// - Throws: An ``AddressPolicyError`` if a client does not conform to ``AddressGuardable``, or cannot apply the policy.
    public func guarding(with policy: AddressPolicy) throws(AddressPolicyError) -> GuardingDataFetcher {
        try GuardingDataFetcher(self, policy: policy)
    }

    /// Returns this fetcher with the clients of all its layers guarded.
    fileprivate func guardingClients(with policy: AddressPolicy) throws(AddressPolicyError) -> any DataFetcher {
        if let client = self as? any AddressGuardable { return try client.guarded(by: policy) }
        if var probe = self as? AttemptObservingDataFetcher {
            probe.base = try probe.base.guardingClients(with: policy)
            return probe
        }
        if var layered = self as? any LayeredDataFetcher {
            layered.client = try layered.client.guardingClients(with: policy)
            return layered
        }
        guard var decorator = self as? any DecoratingDataFetcher else {
            throw AddressPolicyError(
                """
                \(type(of: self)) cannot check the addresses of its requests. Guard the client that it uses, or conform it to \
                AddressGuardable, or to DecoratingDataFetcher if it wraps another fetcher.
                """
            )
        }
        decorator.base = try decorator.base.guardingClients(with: policy)
        if var falling = decorator as? FallingBackDataFetcher, case .fetcher(let other) = falling.fallback {
            falling.fallback = .fetcher(try other.guardingClients(with: policy))
            return falling
        }
        return decorator
    }
}
