public import InwardFetching

/// A double with a policy for the URLs of its requests. It connects to nothing, so there are no addresses to check.
struct GuardedDouble: AddressGuardable {
    private let base: any DataFetcher
    private let addressGuard: AddressGuard

    init(_ base: any DataFetcher, _ addressGuard: AddressGuard) {
        self.base = base
        self.addressGuard = addressGuard
    }

    var honorsDeadlines: Bool { base.honorsDeadlines }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try addressGuard.check(request)
        return try await base.fetch(request)
    }

    func guarded(by policy: AddressPolicy) -> any DataFetcher { GuardedDouble(base, addressGuard.adding(policy)) }
}

extension StubDataFetcher: AddressGuardable {
    /// Returns a stub that refuses the URLs that the policy refuses. It connects to nothing, so it looks up no names.
    public func guarded(by policy: AddressPolicy) -> any DataFetcher { GuardedDouble(self, AddressGuard(policy)) }
}

extension ScriptedDataFetcher: AddressGuardable {
    /// Returns a fetcher that refuses the URLs that the policy refuses, and otherwise follows this script. It looks up no names.
    public func guarded(by policy: AddressPolicy) -> any DataFetcher { GuardedDouble(self, AddressGuard(policy)) }
}

extension RoutedDataFetcher: AddressGuardable {
    /// Returns a fetcher that refuses the URLs that the policy refuses, and otherwise uses these routes. It looks up no names.
    public func guarded(by policy: AddressPolicy) -> any DataFetcher { GuardedDouble(self, AddressGuard(policy)) }
}

extension InMemoryWebDataFetcher: AddressGuardable {
    /// Returns a server that refuses the URLs that the policy refuses, with the same resources. It looks up no names.
    public func guarded(by policy: AddressPolicy) -> any DataFetcher { GuardedDouble(self, AddressGuard(policy)) }
}
