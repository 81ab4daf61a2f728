import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A data fetcher with an HTTP cache (RFC 9111).
///
/// ```swift
/// let cached = client.caching(in: cache.makePartition())
/// _ = try await cached.fetch(request)
/// print(try await cached.fetch(request).origin)  // memory, if the first response is fresh
/// ```
///
/// It stores what the standard allows, validates what is stale, and answers `GET` and `HEAD` requests, with conditions and ranges, from
/// what it has. Concurrent requests for one URL that is not stored are one request to the upstream. A successful request with an
/// unsafe method (RFC 9110 section 9.2.1) removes what is stored of the URLs that it concerns.
///
/// Every answer has a `Cache-Status` field (RFC 9211) that says what happened: `Inward; hit; ttl=59`.
public struct CachingDataFetcher: ReportingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let partition: ResponseCache.Partition
    var observers = FetchObservers()

    init(_ base: any DataFetcher, partition: ResponseCache.Partition) {
        self.base = base
        self.partition = partition
    }

    /// The description of this layer.
    public var layer: DataFetcherLayer {
        DataFetcherLayer(.cache, "serves stored responses as a \(policy.isShared ? "shared" : "private") cache")
    }

    private var policy: CachePolicy { partition.policy }

    /// Returns a stored response, or else the response of the wrapped fetcher.
    ///
    /// A request with `Cache-Control: only-if-cached` that the cache cannot answer gets the status 504.
    ///
    /// - Throws: Errors of the wrapped fetcher, if no stored response may be used in place of an answer.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard request.method == .get || request.method == .head else { return try await pass(on: request) }
        let request = CacheRequest(request)
        let key = partition.key(of: request.request.url)
        var lookedUp = lookUp(request, key)
        if lookedUp.isMiss, partition.hasStore { lookedUp = await search(request, key) }
        switch lookedUp {
        case .answer(let response): return response
        case .question where request.directives.onlyIfCached: return unanswerable
        case .question(let question): return try await answer(to: question)
        }
    }

    // MARK: Looking up

    private enum LookUp {
        case answer(DataResponse)
        case question(UpstreamQuestion)

        /// Whether no response is stored in memory for the URL.
        var isMiss: Bool { if case .question(let question) = self { question.reason == .uriMiss } else { false } }
    }

    /// Looks in the store for a response to a request whose URL is not in memory.
    private func search(
        _ request: CacheRequest,
        _ key: CacheKey,
        after wait: CacheStatus.Forwarding.Reason? = nil
    ) async -> LookUp {
        let found = await partition.load(key)
        // First in memory, which is newer, and where another caller may have stored the answer meanwhile.
        let inMemory = partition.responses(for: key)
        let lookedUp = lookUp(request, key, among: inMemory.isEmpty ? found ?? [] : inMemory, after: wait)
        guard found == nil, case .question(var question) = lookedUp, question.reason == .uriMiss else {
            return lookedUp
        }
        question.mayBeInStore = true
        return .question(question)
    }

    /// Looks for a stored response that answers a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - key: The key of its URL.
    ///   - responses: The responses for the URL; `nil` for those in memory.
    ///   - wait: Why the caller waited for the answer to another request; `nil` if it did not.
    /// - Returns: The answer, or what to ask the upstream.
    private func lookUp(
        _ request: CacheRequest,
        _ key: CacheKey,
        among responses: [StoredResponse]? = nil,
        after wait: CacheStatus.Forwarding.Reason? = nil
    ) -> LookUp {
        func ask(
            _ reason: CacheStatus.Forwarding.Reason,
            _ selected: StoredResponse? = nil,
            among siblings: [StoredResponse] = []
        ) -> LookUp {
            .question(
                UpstreamQuestion(request: request, key: key, reason: reason, selected: selected, siblings: siblings)
            )
        }
        guard !request.hasPrecondition else { return ask(.bypass) }
        let responses = responses ?? partition.responses(for: key)
        guard !responses.isEmpty else { return ask(.uriMiss) }
        guard let selected = responses.selected(by: request) else { return ask(.varyMiss, among: responses) }
        let uptime = partition.cache.uptime
        let reuse = CacheReuse(of: selected, for: request, at: uptime, policy: policy)
        if case .afterValidation(let reason) = reuse {
            return ask(reason == .stale ? .stale : .request, selected, among: responses)
        }
        let status = wait.map { CacheStatus.forwarded(CacheStatus.Forwarding(reason: $0, isCollapsed: true)) } ?? .hit
        guard var response = selected.answer(to: request, at: uptime, status, of: policy.name) else {
            return ask(.partial, selected, among: responses)
        }
        if reuse == .staleWhileRevalidating { refresh(selected, request, key) }
        if wait == nil { observers.tell { $0.answeredFromCache(request.request) } }
        response.origin = .memory
        return .answer(response)
    }

    /// The answer to a request that only the upstream could answer, but must not (RFC 9111 section 5.2.1.7).
    private var unanswerable: DataResponse {
        var response = DataResponse(status: 504)
        response.origin = .memory
        response.headerFields.append(HeaderField(.cacheStatus, "\(policy.name); detail=only-if-cached"))
        return response
    }

    // MARK: Asking the upstream

    /// Asks the upstream, or waits for the answer to an equal question.
    private func answer(to first: UpstreamQuestion) async throws(FetchError) -> DataResponse {
        var question = first
        var isCollapsed = false
        // Each round, another caller asked for something that this one can not use, but now knows the variant of.
        for _ in 0..<Self.maximumRounds where question.isShareable && (!isCollapsed || question.reason == .varyMiss) {
            var hasJoined = false
            let asked = question
            let flight = ResponseCache.Partition.FlightKey(
                key: question.key,
                variant: question.siblings.last?.variant.selected(by: question.request)
            )
            let noteJoining = {
                hasJoined = true
                observers.tell { $0.joined(asked.request.request) }
            }
            let outcome = await partition.flights.outcome(for: flight, noteJoining: noteJoining) {
                [base, partition] _ throws(FetchError) in
                try await asked.answer(from: base, storingIn: partition)
            }
            let answer: UpstreamAnswer
            switch outcome {
            case .fulfilled(let result): answer = try result.get()
            case .cancelled:
                throw FetchError(.cancelled, request: question.request.request, explanation: "was cancelled")
            case .deadlinePassed:
                let explanation = "was not answered before the deadline"
                throw FetchError(.timedOut, request: question.request.request, explanation: explanation)
            }
            guard hasJoined else { return answer.response }
            isCollapsed = true
            switch answer.meaning {
            case .stored: break
            case .unshareable: return try await question.answer(from: base, storingIn: partition).response
            case .failed(let failure):
                if let stale = question.stale(after: failure, in: partition) { return stale.response }
            }
            var lookedUp = lookUp(question.request, question.key, after: question.reason)
            if lookedUp.isMiss, partition.hasStore {
                lookedUp = await search(question.request, question.key, after: question.reason)
            }
            switch lookedUp {
            case .answer(let response): return response
            case .question(let next): question = next
            }
        }
        return try await question.answer(from: base, storingIn: partition).response
    }

    private static let maximumRounds = 4

    /// Asks the upstream for a newer response, without waiting for it.
    private func refresh(_ selected: StoredResponse, _ request: CacheRequest, _ key: CacheKey) {
        let question = UpstreamQuestion(
            request: request,
            key: key,
            reason: .stale,
            selected: selected,
            siblings: [selected]
        )
        let flight = ResponseCache.Partition.FlightKey(key: key, variant: selected.variant)
        partition.flights.start(for: flight) { [base, partition] _ throws(FetchError) in
            try await question.answer(from: base, storingIn: partition)
        }
    }

    // MARK: Other methods

    /// Sends a request that is not answered from the cache, and removes what it makes outdated (RFC 9111 section 4.4).
    private func pass(on request: DataRequest) async throws(FetchError) -> DataResponse {
        let key = partition.key(of: request.url)
        let begun = partition.begin(key)
        defer { partition.end(begun) }
        var response: DataResponse
        do {
            response = try await base.fetch(request)
        } catch {
            // The upstream may have made the change before the failure.
            if !request.method.isSafe, error.wasSent {
                invalidate(request, nil)
                await partition.flush()
            }
            throw error
        }
        var forwarding = CacheStatus.Forwarding(reason: .method)
        if !request.method.isSafe {
            let isCurrent = partition.isCurrent(begun)
            if (200..<400).contains(response.status.code) || policy.invalidatesAll { invalidate(request, response) }
            if isCurrent { forwarding.isStored = store(response, to: request, begun) }
            // Before the caller hears of the change, so that even the end of the program does not bring back what it has outdated.
            await partition.flush()
        }
        response.append(.forwarded(forwarding), of: policy)
        return response
    }

    /// Stores a response to `POST` for later `GET` requests, if it says that it is for them (RFC 9110 section 9.3.3).
    private func store(
        _ response: DataResponse,
        to request: DataRequest,
        _ begun: ResponseCache.Partition.Begun
    ) -> Bool {
        let fields = response.headerFields
        let directives = CacheDirectives(fields)
        let hasLifetime = directives.maxAge != nil || directives.sharedMaxAge != nil || fields[.expires] != nil
        guard request.method == .post, response.status.isSuccess, hasLifetime,
            let location = fields.firstValue(of: .contentLocation),
            let url = URL(string: location, relativeTo: request.url)?.absoluteURL, partition.key(of: url) == begun.key
        else { return false }
        // A new request by its number, because the requests that began before this one ended are outdated.
        let successor = partition.begin(begun.key)
        defer { partition.end(successor) }
        var reading = request
        reading.method = .get
        reading.body = nil
        let stored = StoredResponse(
            response,
            to: CacheRequest(reading),
            sent: begun.sent,
            arrival: partition.cache.now,
            number: successor.number,
            policy: policy,
            body: partition.cache.body
        )
        return stored.map { partition.store($0, for: successor) } ?? false
    }

    private func invalidate(_ request: DataRequest, _ response: DataResponse?) {
        if policy.invalidatesAll { return partition.removeAll() }
        partition.invalidate(partition.key(of: request.url))
        let origin = WebOrigin(request.url)
        for name in [HeaderField.Name.location, .contentLocation] {
            guard let text = response?.headerFields.firstValue(of: name),
                let url = URL(string: text, relativeTo: request.url)?.absoluteURL, WebOrigin(url) == origin
            else { continue }
            partition.invalidate(partition.key(of: url))
        }
    }
}

extension [StoredResponse] {
    /// Returns the response that a request selects (RFC 9111 section 4.1): of several the most recent one, and one that is whole before
    /// one that is a part.
    fileprivate func selected(by request: CacheRequest) -> StoredResponse? {
        // A response without `Vary` among others with it is one of which it is unknown what it depends on.
        let isNegotiated = count > 1 && contains { $0.variant.isNegotiated }
        var selected: StoredResponse?
        for response in self where response.variant.isNegotiated || !isNegotiated {
            guard response.variant.matches(request) else { continue }
            guard let other = selected else {
                selected = response
                continue
            }
            let isBetter =
                (response.range == nil) == (other.range == nil) ? response.date >= other.date : response.range == nil
            if isBetter { selected = response }
        }
        return selected
    }
}

extension DataFetcher {
    /// Returns this fetcher with a cache.
    ///
    /// ```swift
    /// let session = cache.makePartition()
    /// let cached = orders.caching(in: session)
    /// ```
    public func caching(in partition: ResponseCache.Partition) -> CachingDataFetcher {
        CachingDataFetcher(self, partition: partition)
    }
}
