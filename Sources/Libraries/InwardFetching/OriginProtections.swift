public import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A collection of protections for URLs that you do not choose, such as those of images in posts. Each origin has a circuit
/// breaker, limits and a retry budget of its own, so that its failures do not affect the others.
///
/// ```swift
/// let origins = OriginProtections("images", by: try UpstreamPolicy(attempts: 2))
/// let images = client.protecting(by: origins)
/// ```
///
/// An origin is a scheme, a host and a port (RFC 6454). Above the limit, the least recently used origins are forgotten. Origins
/// with requests under way are kept, so the number of origins can temporarily exceed the limit.
public final class OriginProtections: Sendable {
    private struct Entry {
        let protection: UpstreamProtection
        var underWay = 0
        var lastUse = 0
    }

    private struct State {
        var entries: [WebOrigin: Entry] = [:]
        var policy: UpstreamPolicy
        var useCount = 0

        /// Forgets the least recently used origin without requests under way, if any.
        mutating func forgetOne() {
            let idle = entries.filter { $0.value.underWay == 0 }
            if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { entries[oldest.key] = nil }
        }
    }

    /// The name in messages and for observers. All circuits share it, because host names that you do not choose must not become
    /// names of metrics.
    public let name: String
    /// The maximum number of origins to remember while they are not in use.
    public let limit: Int
    private let timer: TimerService
    private let state: Mutex<State>

    /// Creates an empty collection of protections.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - policy: The configuration for each origin. The concurrency and the rate apply to one origin, not to all together.
    ///   - limit: The maximum number of origins to remember while they are not in use, at least 1.
    ///   - timer: The source of time for all limits.
    public init(
        _ name: String,
        by policy: UpstreamPolicy = .standard,
        atMost limit: Int = 256,
        timer: TimerService = .continuous
    ) {
        self.name = name
        self.limit = max(1, limit)
        self.timer = timer
        state = Mutex(State(policy: policy))
    }

    /// The number of remembered origins.
    public var count: Int { state.withLock(\.entries.count) }

    /// Returns the protection of the origin of a URL; `nil` if the origin is not remembered.
    public func protection(of url: URL) -> UpstreamProtection? {
        state.withLock { $0.entries[WebOrigin(url)]?.protection }
    }

    /// Replaces the policy of all origins, as ``UpstreamProtection/replacePolicy(_:)`` does for one.
    public func replacePolicy(_ policy: UpstreamPolicy) {
        let protections = state.withLock { state in
            state.policy = policy
            return state.entries.values.map(\.protection)
        }
        for protection in protections { protection.replacePolicy(policy) }
    }

    /// A protection without an origin, from which a pipeline lists the layers that each origin has.
    fileprivate var example: UpstreamProtection {
        UpstreamProtection(name, by: state.withLock(\.policy), timer: timer)
    }

    /// Returns the protection of an origin for a request, which the caller must end.
    ///
    /// - Complexity: O(1) for a remembered origin, and O(n) in the number of remembered origins for another.
    fileprivate func begin(_ origin: WebOrigin) -> UpstreamProtection {
        state.withLock { state in
            state.useCount += 1
            if state.entries[origin] == nil, state.entries.count >= limit { state.forgetOne() }
            var entry =
                state.entries[origin]
                ?? Entry(protection: UpstreamProtection(name, by: state.policy, timer: timer))
            entry.underWay += 1
            entry.lastUse = state.useCount
            state.entries[origin] = entry
            return entry.protection
        }
    }

    /// Ends a request.
    fileprivate func end(_ origin: WebOrigin) {
        state.withLock { state in
            state.entries[origin]?.underWay -= 1
            if state.entries.count > limit { state.forgetOne() }
        }
    }
}

extension DataFetcher {
    /// Returns this fetcher inside the layers of the protection of each request's origin, with coalescing around them.
    ///
    /// The layers are created anew for each request.
    ///
    /// - Parameter origins: The protections, which other fetchers may share.
    /// - Returns: The outermost layer.
    public func protecting(by origins: OriginProtections) -> any DataFetcher {
        OriginProtectedDataFetcher(client: self, origins: origins).coalescing()
    }
}

/// A data fetcher inside the layers of the protection of each request's origin.
private struct OriginProtectedDataFetcher: LayeredDataFetcher {
    var client: any DataFetcher
    let origins: OriginProtections
    var observers: [(observer: any FetchObserver, timer: TimerService)] = []

    var honorsDeadlines: Bool { client.honorsDeadlines }

    var layers: any DataFetcher { ProtectedDataFetcher(client, by: origins.example, observers: observers).layers }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let origin = WebOrigin(request.url)
        let protection = origins.begin(origin)
        defer { origins.end(origin) }
        return try await ProtectedDataFetcher(client, by: protection, observers: observers).fetch(request)
    }
}
