import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What came of asking the upstream.
struct UpstreamAnswer: Sendable {
    /// What it means for other callers who wait for it.
    enum Meaning: Sendable {
        /// They find it in the cache, and may use it or not.
        case stored
        /// It is for one caller.
        case unshareable
        /// The upstream failed, and the answer is a stale response.
        case failed(UpstreamFailure)
    }

    /// The answer to the caller who asked.
    var response: DataResponse
    var meaning: Meaning
    /// Whether the store has to remove an outdated response.
    var hasOutdated = false
}

/// A question to the upstream, and what a cache makes of its answer.
struct UpstreamQuestion: Sendable {
    let request: CacheRequest
    let key: CacheKey
    let reason: CacheStatus.Forwarding.Reason
    /// The stored response that matches the request, if there is one.
    var selected: StoredResponse?
    /// All stored responses for the URL. If none matches the request, one of them may be what the upstream would send.
    var siblings: [StoredResponse] = []
    /// Whether the store of the partition may have responses for the URL that are not in memory.
    var mayBeInStore = false

    /// Whether callers with equal questions can wait for one answer.
    ///
    /// A caller who demands something of a cache, or has conditions, gets an answer of its own.
    var isShareable: Bool {
        request.isGet && !request.isConditional && request.range == nil && reason != .bypass && reason != .request
            && !request.directives.noStore && !request.directives.noCache
    }

    /// Asks the upstream.
    ///
    /// - Parameters:
    ///   - base: The upstream.
    ///   - partition: The cache.
    /// - Returns: The answer, which is stored if it may be.
    /// - Throws: The error of the upstream, if no stored response may be used in its place.
    func answer(
        from base: any DataFetcher,
        storingIn partition: ResponseCache.Partition
    ) async throws(FetchError) -> UpstreamAnswer {
        let answer = try await ask(base, storingIn: partition)
        // What a response has outdated must not come back, even if the program ends now.
        if answer.hasOutdated { await partition.flush() }
        return answer
    }

    private func ask(
        _ base: any DataFetcher,
        storingIn partition: ResponseCache.Partition
    ) async throws(FetchError) -> UpstreamAnswer {
        let begun = partition.begin(key)
        defer { partition.end(begun) }
        let isValidating = request.isGet && reason != .bypass && reason != .partial
        let validation =
            isValidating ? StoredResponse.validation(of: siblings, selected: selected, for: request) : nil
        let completion = reason == .partial ? selected?.completion(for: request) : nil
        let response: DataResponse
        do {
            response = try await base.fetch(completion ?? validation ?? request.request)
        } catch {
            if error.isAboutUpstream, let answer = stale(after: .noAnswer, in: partition) { return answer }
            throw error
        }
        if validation != nil, response.status == .notModified {
            let named = selected.map { [$0] } ?? siblings.filter { $0.range == nil }
            if let confirmed = StoredResponse.confirmed(by: response, among: named),
                let answer = answer(confirming: confirmed, response, begun, in: partition)
            {
                return answer
            }
            // The upstream confirms something else than was asked, or a part that does not contain what the caller wants, so it
            // has to send that.
            return try await askForAll(base, storingIn: partition)
        }
        if completion != nil, [.partialContent, .rangeNotSatisfiable].contains(response.status) {
            if let answer = answer(completing: response, begun, in: partition) { return answer }
            // It is not the rest of what is stored.
            return try await askForAll(base, storingIn: partition)
        }
        if response.status == .notModified { update(selected, by: response, begun, in: partition) }
        if [500, 502, 503, 504].contains(response.status.code),
            let answer = stale(after: .serverError(response.status), in: partition)
        {
            return answer
        }
        return answer(with: response, begun, hasReplacedConditions: validation != nil, in: partition)
    }

    /// Asks for what the caller wants, whatever is stored.
    private func askForAll(
        _ base: any DataFetcher,
        storingIn partition: ResponseCache.Partition
    ) async throws(FetchError) -> UpstreamAnswer {
        try await Self(request: request, key: key, reason: .partial).ask(base, storingIn: partition)
    }

    // MARK: Answers

    /// Returns a stale response in place of an answer; `nil` if none may be used.
    func stale(after failure: UpstreamFailure, in partition: ResponseCache.Partition) -> UpstreamAnswer? {
        let uptime = partition.cache.uptime
        guard let selected, selected.isUsable(after: failure, for: request, at: uptime, policy: partition.policy) else {
            return nil
        }
        let status: CacheStatus =
            switch failure {
            case .noAnswer: .hit
            case .serverError(let status): .forwarded(CacheStatus.Forwarding(reason: reason, status: status))
            }
        let remaining = selected.freshness.remaining(at: uptime)
        let report = status.fieldValue(of: partition.policy.name, remaining: remaining)
        guard var response = selected.answer(to: request, at: uptime, report) else { return nil }
        response.origin = .memory
        return UpstreamAnswer(response: response, meaning: .failed(failure))
    }

    /// Updates a stored response that the upstream has confirmed, and answers with it. Returns `nil` if it does not contain what the
    /// caller asks for.
    private func answer(
        confirming confirmed: StoredResponse,
        _ news: DataResponse,
        _ begun: ResponseCache.Partition.Begun,
        in partition: ResponseCache.Partition
    ) -> UpstreamAnswer? {
        let arrival = partition.cache.now
        let updated = confirmed.updated(
            by: news,
            to: request,
            sent: begun.sent,
            arrival: arrival,
            number: begun.number,
            policy: partition.policy
        )
        let isStored: Bool
        var hasOutdated = false
        if let updated {
            // Another variant that turned out to be the same is kept beside it.
            isStored = partition.store(updated, replacing: selected, for: begun)
        } else {
            isStored = false
            // It is the response that must not be stored, or only this answer to it, if the request says so.
            if !request.directives.noStore {
                hasOutdated = partition.outdate(confirmed, by: begun, mayBeInStore: mayBeInStore)
            }
        }
        let current = updated ?? confirmed.answerable(updatedBy: news, policy: partition.policy)
        let report = CacheStatus.forwarded(
            CacheStatus.Forwarding(reason: reason, status: news.status, isStored: isStored)
        )
        .fieldValue(of: partition.policy.name, remaining: updated?.freshness.remaining(at: arrival.uptime))
        guard var response = current.answer(to: request, at: arrival.uptime, report) else { return nil }
        response.retries = news.retries
        return UpstreamAnswer(
            response: response,
            meaning: isStored ? .stored : .unshareable,
            hasOutdated: hasOutdated
        )
    }

    /// Stores the whole of which the upstream has sent the rest, and answers with it. Returns `nil` if it is not the rest, or must not
    /// be stored.
    private func answer(
        completing rest: DataResponse,
        _ begun: ResponseCache.Partition.Begun,
        in partition: ResponseCache.Partition
    ) -> UpstreamAnswer? {
        let arrival = partition.cache.now
        guard let whole = stored(rest, begun, at: arrival, in: partition), whole.range == nil else { return nil }
        let isStored = partition.store(whole, replacing: replaced(by: whole), for: begun)
        let report = CacheStatus.forwarded(
            CacheStatus.Forwarding(reason: reason, status: rest.status, isStored: isStored)
        )
        .fieldValue(of: partition.policy.name, remaining: whole.freshness.remaining(at: arrival.uptime))
        guard var response = whole.answer(to: request, at: arrival.uptime, report) else { return nil }
        response.retries = rest.retries
        return UpstreamAnswer(response: response, meaning: isStored ? .stored : .unshareable)
    }

    /// Updates the only stored response for the URL, which has no validator, if the news for the caller's copy is about it as well:
    /// nothing has changed since a moment at which it had not been made yet (RFC 9111 section 4.3.4).
    private func update(
        _ stored: StoredResponse?,
        by news: DataResponse,
        _ begun: ResponseCache.Partition.Begun,
        in partition: ResponseCache.Partition
    ) {
        guard let stored, siblings.count == 1, !stored.hasValidator, !news.headerFields.hasValidator,
            let since = request.headerFields.date(.ifModifiedSince, near: stored.date), since <= stored.date
        else { return }
        let updated = stored.updated(
            by: news,
            to: request,
            sent: begun.sent,
            arrival: partition.cache.now,
            number: begun.number,
            policy: partition.policy
        )
        if let updated { _ = partition.store(updated, replacing: stored, for: begun) }
    }

    /// Stores a response if it may be, and answers with it.
    private func answer(
        with response: DataResponse,
        _ begun: ResponseCache.Partition.Begun,
        hasReplacedConditions: Bool,
        in partition: ResponseCache.Partition
    ) -> UpstreamAnswer {
        let arrival = partition.cache.now
        let new = stored(response, begun, at: arrival, in: partition)
        let isStored = new.map { partition.store($0, replacing: replaced(by: $0), for: begun) } ?? false
        var hasOutdated = false
        if !isStored, request.isGet || selected != nil, outdatesOthers(response) {
            hasOutdated = partition.outdate(selected, by: begun, mayBeInStore: mayBeInStore)
        }
        let remaining = isStored ? new?.freshness.remaining(at: arrival.uptime) : nil
        var forwarding = CacheStatus.Forwarding(reason: reason, isStored: isStored)
        let meaning: UpstreamAnswer.Meaning = isStored ? .stored : .unshareable
        // The caller's own conditions and range were replaced by those of the cache.
        if hasReplacedConditions, request.isConditional || request.range != nil, let new {
            forwarding.status = response.status
            let report = CacheStatus.forwarded(forwarding).fieldValue(of: partition.policy.name, remaining: remaining)
            if var answer = new.answer(to: request, at: arrival.uptime, report) {
                answer.retries = response.retries
                return UpstreamAnswer(response: answer, meaning: meaning, hasOutdated: hasOutdated)
            }
        }
        var answer = response
        answer.append(.forwarded(forwarding), of: partition.policy, remaining: remaining)
        return UpstreamAnswer(response: answer, meaning: meaning, hasOutdated: hasOutdated)
    }

    /// Returns what the cache stores of a response; `nil` if nothing.
    private func stored(
        _ response: DataResponse,
        _ begun: ResponseCache.Partition.Begun,
        at arrival: CacheMoment,
        in partition: ResponseCache.Partition
    ) -> StoredResponse? {
        guard reason != .bypass else { return nil }
        if !request.isGet {
            guard let selected, response.status == selected.status, selected.isDescribed(by: response) else {
                return nil
            }
            return selected.updated(
                by: response,
                to: request,
                sent: begun.sent,
                arrival: arrival,
                number: begun.number,
                policy: partition.policy
            )
        }
        let new = StoredResponse(
            selected?.updating(response) ?? response,
            to: request,
            sent: begun.sent,
            arrival: arrival,
            number: begun.number,
            policy: partition.policy,
            siblings: siblings,
            body: partition.cache.body
        )
        guard let new, let selected, new.range != nil || selected.range != nil else { return new }
        // A part joins the one that is stored. If it does not, a whole response that is stored is worth more.
        return new.combined(with: selected) ?? (selected.range == nil ? nil : new)
    }

    private func replaced(by new: StoredResponse) -> StoredResponse? {
        selected?.variant == new.variant ? selected : nil
    }

    /// Returns whether a response that is not stored shows that earlier ones are outdated.
    private func outdatesOthers(_ response: DataResponse) -> Bool {
        // A failure says nothing about the resource, nor does a part, nor a response that the request forbids to store.
        guard response.isOfSource, reason != .bypass, response.status.code < 500,
            response.status != .partialContent, response.status != .notModified,
            response.status != .rangeNotSatisfiable
        else { return false }
        return !request.directives.noStore || !request.isGet
    }
}

extension FetchError {
    /// Whether the error says that the upstream could not be asked, or did not answer.
    fileprivate var isAboutUpstream: Bool {
        [.unreachable, .timedOut, .interrupted, .rejected].contains(reason)
    }
}
