import Foundation
import InwardCore
import InwardFetching
import InwardRepositories

/// The app's upstream, as sessions ask it: each with its own credentials.
struct SessionUpstream: Sendable {
    let configuration: AppConfiguration
    /// The data fetcher that all sessions share.
    let dataFetcher: any DataFetcher
    let observer: (any FetchObserver)?
    let timer: TimerService

    /// Returns the upstream as it is asked with credentials.
    ///
    /// - Parameters:
    ///   - credentials: The header field to send; `nil` for none.
    ///   - partition: The part of the response cache that belongs to the session; `nil` for none.
    /// - Returns: The upstream.
    func upstream(sending credentials: HeaderField?, cachingIn partition: ResponseCache.Partition? = nil) -> Upstream {
        Upstream(
            baseURL: configuration.baseURL,
            dataFetcher: fetcher(over: dataFetcher, sending: credentials, cachingIn: partition)
        )
    }

    /// Returns a data fetcher that sends credentials to the upstream, and to no other origin.
    func fetcher(
        over shared: any DataFetcher,
        sending credentials: HeaderField?,
        cachingIn partition: ResponseCache.Partition?
    ) -> any DataFetcher {
        var dataFetcher = shared
        if let credentials {
            dataFetcher = dataFetcher.authorizing(
                with: credentials,
                for: configuration.baseURL,
                allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP
            )
        }
        if let partition { dataFetcher = dataFetcher.caching(in: partition) }
        return dataFetcher.observing(with: observer, timer: timer)
    }
}

extension CachePolicy {
    /// The policy for the responses of a session. A write empties its part of the cache, because the upstream's lists depend on the
    /// items in them. Only what the upstream says to be fresh is used, because repositories decide about anything older.
    static var session: Self {
        var policy = Self.private
        policy.invalidatesAll = true
        policy.heuristicFraction = 0
        policy.staleLimit = .zero
        return policy
    }
}
