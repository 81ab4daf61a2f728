import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A moment by the two clocks of a cache.
struct CacheMoment: Hashable, Sendable {
    /// The time by a clock that is never set, which measures how long a response has been stored.
    var uptime: Duration
    /// The date, which is compared with the dates in header fields.
    var date: Date
}

/// How old a response is, and how long it is fresh (RFC 9111 section 4.2).
struct ResponseFreshness: Hashable, Sendable {
    /// The uptime at which the origin server created or last confirmed the response. It can be negative.
    var birth: Duration
    /// The time from creation for which the response is fresh.
    var lifetime: Duration

    /// Returns the age of the response (RFC 9111 section 4.2.3).
    func age(at uptime: Duration) -> Duration { max(.zero, uptime - birth) }

    /// Returns the remaining lifetime, which is zero or negative for a stale response.
    func remaining(at uptime: Duration) -> Duration { lifetime - age(at: uptime) }
}

extension ResponseFreshness {
    /// Calculates the freshness of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - directives: The directives that apply to the cache.
    ///   - sent: When the request was sent.
    ///   - arrival: When the response arrived.
    ///   - policy: The policy of the cache.
    init(
        of response: DataResponse,
        directives: ResponseDirectives,
        sent: CacheMoment,
        arrival: CacheMoment,
        policy: CachePolicy
    ) {
        let fields = response.headerFields
        let made = fields.date(.date, near: arrival.date)
        // The time from the request to the response counts in full, because it is unknown when the response was created
        // (RFC 9111 section 4.2.3).
        let corrected = (fields.ageValue ?? .zero) + max(.zero, arrival.uptime - sent.uptime)
        let apparent = made.map { Duration.seconds(max(0, $0.seconds(until: arrival.date))) } ?? .zero
        birth = arrival.uptime - max(apparent, corrected)
        let stated = directives.explicitLifetime(fields, made: made ?? arrival.date, policy: policy)
        let lifetime = stated ?? policy.heuristicLifetime(of: response, directives, made: made ?? arrival.date)
        self.lifetime = min(lifetime, policy.maximumLifetime)
    }
}

extension ResponseDirectives {
    /// Returns the lifetime that a response states, zero if what it states is invalid; `nil` if it states none (RFC 9111 section
    /// 4.2.1).
    fileprivate func explicitLifetime(_ fields: HeaderFields, made: Date, policy: CachePolicy) -> Duration? {
        if policy.isShared, let sharedMaxAge = directives.sharedMaxAge { return sharedMaxAge }
        if let maxAge = directives.maxAge { return maxAge }
        guard !isTargeted else { return nil }
        let expiries = fields.values(of: .expires)
        guard let first = expiries.first else { return nil }
        // Several different dates make the response stale, like an invalid one.
        guard expiries.allSatisfy({ $0 == first }), let expiry = Date(httpDate: first, near: made) else { return .zero }
        return .seconds(max(0, made.seconds(until: expiry)))
    }
}

extension CachePolicy {
    /// Returns the lifetime that is estimated for a response without a stated one (RFC 9111 section 4.2.2).
    fileprivate func heuristicLifetime(
        of response: DataResponse,
        _ directives: ResponseDirectives,
        made: Date
    ) -> Duration {
        let isAllowed = response.status.isHeuristicallyCacheable || directives.directives.isPublic
        // A response to `Pragma: no-cache` or with a query is treated like any other, because it has a modification date.
        guard isAllowed, let modified = response.headerFields.date(.lastModified, near: made) else { return .zero }
        let fraction = Double(max(0, modified.seconds(until: made))) * heuristicFraction
        return min(.seconds(Int64(fraction)), heuristicLimit)
    }
}

extension HeaderFields {
    /// How long caches on the way have held the response (RFC 9111 section 5.1); `nil` without a valid `Age` field.
    ///
    /// Of several values the first counts. A value that is not a number of seconds is ignored.
    package var ageValue: Duration? {
        firstValue(of: .age)?.withBytes { bytes in
            let end = bytes.end(from: 0) { $0 != UInt8(ascii: ",") }
            return CacheDirectives.seconds(bytes.extracting(bytes.withoutTrailingWhiteSpace(0..<end)))
        }
    }

    /// Whether the response says that no cache may store it.
    package var forbidsStoring: Bool { CacheDirectives(self).noStore }

    /// Returns the date in a field; `nil` if it is missing or invalid.
    func date(_ name: HeaderField.Name, near now: Date) -> Date? {
        firstValue(of: name).flatMap { Date(httpDate: $0, near: now) }
    }
}

extension Date {
    /// Returns the number of whole seconds until another date.
    fileprivate func seconds(until other: Date) -> Int64 {
        let seconds = other.timeIntervalSince(self)
        return Int64(max(-1e12, min(1e12, seconds)))
    }
}

extension DataResponse.Status {
    /// Whether a lifetime may be estimated for responses with this status (RFC 9110 section 15.1).
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }
}
