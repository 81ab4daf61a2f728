import InwardCore

/// A data fetcher that answers from a cache while an earlier answer is fresh, as the cache of one user (RFC 9111).
///
/// It keeps successful answers to `GET` which say how long they are fresh, and finds them again by the whole request. An answer
/// that was given in place of another, or came through a redirect, is not kept. A request that wants no copy
/// (`Cache-Control: no-cache`) is asked anew, and its answer kept. A request by a method that is not safe (RFC 9110 section
/// 9.2.1) empties the partition.
public struct CachingDataFetcher: TellingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let partition: ResponseCache.Partition
    var observers = FetchObservers()

    init(_ base: any DataFetcher, partition: ResponseCache.Partition) {
        self.base = base
        self.partition = partition
    }

    /// That answers are kept.
    public var layer: DataFetcherLayer { DataFetcherLayer(.cache, "answers from memory while an answer is fresh") }

    /// The answer that is kept for a request, or else the wrapped fetcher's.
    ///
    /// - Throws: what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get else { return try await change(request) }
        let directives = request.headerFields.cacheDirectives
        var key = request
        key.headerFields[.cacheControl] = nil
        if directives.isEmpty, var kept = partition.response(to: key) {
            kept.origin = .memory
            observers.tell { $0.answeredFromCache(request) }
            return kept
        }
        let question = partition.beginQuestion(key)
        defer { partition.end(question) }
        let response = try await base.fetch(request)
        if response.status == .ok, response.degradation == nil, directives["no-store"] == nil {
            partition.store(response, asked: question)
        }
        return response
    }

    private func change(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        // Also when it fails: what the source did before that is not known. RFC 9111 section 4.4 names the address alone, but
        // a list has many.
        defer { if !request.method.isSafe { partition.removeAll() } }
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// This fetcher with a part of a cache in front of it.
    public func caching(in partition: ResponseCache.Partition) -> CachingDataFetcher {
        CachingDataFetcher(self, partition: partition)
    }
}
