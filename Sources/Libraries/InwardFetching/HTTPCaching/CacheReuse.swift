/// What a cache may do with a stored response that matches a request (RFC 9111 section 4).
enum CacheReuse: Hashable, Sendable {
    /// Send it.
    case fresh
    /// Send it, because the request accepts stale responses or the response permits it.
    case stale
    /// Send it, and ask the upstream for a newer one meanwhile (RFC 5861 section 3).
    case staleWhileRevalidating
    /// Ask the upstream first.
    case afterValidation(Reason)

    /// Why a stored response cannot be sent without asking the upstream.
    enum Reason: Hashable, Sendable {
        /// It is stale, or must be validated always.
        case stale
        /// The request demands it.
        case request
    }

    /// Decides about a response.
    ///
    /// - Parameters:
    ///   - stored: The response, whose variant matches the request.
    ///   - request: The request.
    ///   - uptime: The current time.
    ///   - policy: The policy of the cache.
    init(
        of stored: StoredResponse,
        for request: CacheRequest,
        at uptime: Duration,
        policy: @autoclosure () -> CachePolicy
    ) {
        // The usual case, which needs no look at the directives.
        if !request.hasDirectives, !stored.isAlwaysValidated, stored.freshness.remaining(at: uptime) > .zero {
            self = .fresh
            return
        }
        let asked = request.directives
        let stated = stored.directives.directives
        // A request that must not be stored is not answered from the cache either, because its sender wants to leave no trace.
        if asked.noCache || asked.noStore {
            self = .afterValidation(.request)
            return
        }
        if stated.noCache {
            self = .afterValidation(.stale)
            return
        }
        let age = stored.freshness.age(at: uptime)
        let remaining = stored.freshness.lifetime - age
        // A fresh `immutable` response needs no validation even if the user reloads it (RFC 8246 section 2).
        if let maxAge = asked.maxAge, age > maxAge || maxAge == .zero, !stated.immutable || remaining <= .zero {
            self = .afterValidation(.request)
            return
        }
        if remaining > .zero {
            self = remaining >= asked.minFresh ?? .zero ? .fresh : .afterValidation(.request)
            return
        }
        guard asked.acceptStaleResponse(of: age), !stored.forbidsStaleUse(in: policy()) else {
            self = .afterValidation(.stale)
            return
        }
        let staleness = Duration.zero - remaining
        if let maxStale = asked.maxStale, staleness <= maxStale {
            self = .stale
        } else if let window = stated.staleWhileRevalidate, staleness < window {
            self = .staleWhileRevalidating
        } else {
            self = .afterValidation(.stale)
        }
    }
}

extension CacheDirectives {
    /// Returns whether a request with these directives leaves it to the cache whether it gets a stale response of some age (RFC 9111
    /// section 5.2.1).
    fileprivate func acceptStaleResponse(of age: Duration) -> Bool {
        guard !noCache, !noStore, minFresh == nil else { return false }
        return maxAge.map { age <= $0 && $0 > .zero && maxStale != nil } ?? true
    }
}

extension StoredResponse {
    /// Whether the response must not be sent once it is stale (RFC 9111 section 4.2.4).
    func forbidsStaleUse(in policy: CachePolicy) -> Bool {
        let directives = directives.directives
        return directives.noCache || directives.mustRevalidate
            || policy.isShared && (directives.proxyRevalidate || directives.sharedMaxAge != nil)
    }

    /// Returns whether the response may be sent because the upstream failed.
    ///
    /// - Parameters:
    ///   - failure: How it failed.
    ///   - request: The request.
    ///   - uptime: The current time.
    ///   - policy: The policy of the cache.
    /// - Returns: Whether it may be sent.
    func isUsable(
        after failure: UpstreamFailure,
        for request: CacheRequest,
        at uptime: Duration,
        policy: CachePolicy
    ) -> Bool {
        guard !forbidsStaleUse(in: policy), request.directives.acceptStaleResponse(of: freshness.age(at: uptime)) else {
            return false
        }
        let staleness = Duration.zero - freshness.remaining(at: uptime)
        // A response that is still fresh was to be validated because the request demands it.
        guard staleness >= .zero else { return false }
        let window = [directives.directives.staleIfError, request.directives.staleIfError].compactMap(\.self).max()
        if let window, staleness < window { return true }
        return failure == .noAnswer && window == nil && staleness < policy.staleLimit
    }
}

/// How an upstream failed to confirm a stored response.
enum UpstreamFailure: Hashable, Sendable {
    /// It did not answer.
    case noAnswer
    /// It answered with a status of 500, 502, 503 or 504 (RFC 5861 section 4).
    case serverError(DataResponse.Status)
}
