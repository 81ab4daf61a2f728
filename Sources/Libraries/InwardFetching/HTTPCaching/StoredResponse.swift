import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response in a cache, with what decides about its reuse.
final class StoredResponse: Sendable {
    let status: DataResponse.Status
    /// The fields that may be stored, without `Age`.
    let headerFields: HeaderFields
    /// The body, or the part of it in `range`.
    let body: StoredBody
    /// The part of the representation that is stored; `nil` for all of it.
    let range: StoredRange?
    let directives: ResponseDirectives
    let freshness: ResponseFreshness
    /// Whether the response must not be sent without being validated.
    let isAlwaysValidated: Bool
    /// The date of the response, which decides between several that match a request (RFC 9111 section 4).
    let date: Date
    /// The request fields that select this variant.
    let variant: Variant
    /// Whether the response is for one user who sent credentials with the request.
    let isPersonal: Bool
    /// The number of its request among all requests of the cache, which orders responses to one request.
    let number: Int
    /// The fields of the latest hit.
    let latestHit = Mutex<LatestHit?>(nil)

    /// The fields of a hit, which the hits within the same second share.
    struct LatestHit: Sendable {
        /// The time for which they were made.
        let made: Duration
        /// The last time for which they are right.
        let end: Duration
        let fields: HeaderFields
    }

    init(
        status: DataResponse.Status,
        headerFields: HeaderFields,
        body: StoredBody,
        range: StoredRange?,
        directives: ResponseDirectives,
        freshness: ResponseFreshness,
        date: Date,
        variant: Variant,
        isPersonal: Bool,
        number: Int
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.range = range
        self.directives = directives
        self.freshness = freshness
        isAlwaysValidated = directives.directives.noCache
        self.date = date
        self.variant = variant
        self.isPersonal = isPersonal
        self.number = number
    }

    /// The entity tag; `nil` if there is none, or it is malformed.
    var entityTag: EntityTag? { headerFields.firstValue(of: .etag).flatMap(EntityTag.init) }

    /// Whether a request can ask if the response is still current.
    var hasValidator: Bool { headerFields.hasValidator }

    /// The approximate number of bytes that the response needs.
    var cost: Int {
        headerFields.reduce(Self.overhead + variant.cost + body.data.count) { cost, field in
            // A name is stored both as written and in lower case. The hits share another list of the same fields.
            cost + 2 * field.name.rawValue.utf8.count + field.value.utf8.count + 2 * MemoryLayout<HeaderField>.stride
        }
    }

    /// The bytes that an entry takes besides its text, because many responses without a body also fill the memory.
    private static let overhead = 512
}

// MARK: Storing

extension StoredResponse {
    /// Creates what a cache stores of a response; `nil` if it must not store it, or could never use it (RFC 9111 section 3).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request.
    ///   - sent: When the request was sent.
    ///   - arrival: When the response arrived.
    ///   - number: The number of the request.
    ///   - policy: The policy of the cache.
    ///   - siblings: The other stored responses for the URL.
    ///   - wasPersonal: Whether an earlier response, of which this one is a newer version, is for one user.
    ///   - body: Returns the body with some data.
    convenience init?(
        _ response: DataResponse,
        to request: CacheRequest,
        sent: CacheMoment,
        arrival: CacheMoment,
        number: Int,
        policy: CachePolicy,
        siblings: [StoredResponse] = [],
        wasPersonal: Bool = false,
        body: (Data) -> StoredBody = { StoredBody($0) }
    ) {
        let directives = ResponseDirectives(response.headerFields, for: policy)
        guard response.isStorable(for: request, directives, policy),
            let variant = Variant(of: response, for: request, policy: policy, siblings: siblings),
            let range = response.storableRange
        else { return nil }
        let freshness = ResponseFreshness(
            of: response,
            directives: directives,
            sent: sent,
            arrival: arrival,
            policy: policy
        )
        self.init(
            status: range.isWhole ? response.status : .ok,
            headerFields: response.headerFields.storable(directives, policy: policy, arrival: arrival.date),
            body: body(response.body),
            range: range.isWhole ? nil : range,
            directives: directives,
            freshness: freshness,
            date: response.headerFields.date(.date, near: arrival.date) ?? arrival.date,
            variant: variant,
            isPersonal: wasPersonal || !policy.isShared && request.hasCredentials,
            number: number
        )
        guard hasValidator || isEverUsable(from: arrival.uptime) else { return nil }
    }

    /// Returns whether the response can be used without being validated. If not, and it cannot be validated either, it only takes
    /// space.
    private func isEverUsable(from uptime: Duration) -> Bool {
        let directives = directives.directives
        if directives.noCache { return false }
        let windows = [directives.staleWhileRevalidate, directives.staleIfError]
        return freshness.remaining(at: uptime) > .zero || windows.contains { ($0 ?? .zero) > .zero }
    }
}

extension DataResponse {
    /// Returns whether a cache may store the response (RFC 9111 section 3).
    func isStorable(
        for request: CacheRequest,
        _ applying: ResponseDirectives,
        _ policy: CachePolicy
    ) -> Bool {
        let directives = applying.directives
        // A redirected response belongs to another URL, and a fallback to no upstream.
        guard isOfSource, url == nil, status.isFinal, !request.forbidsStoring else { return false }
        // `must-understand` overrides `no-store` for caches that know the status (RFC 9111 section 5.2.2.3).
        if directives.mustUnderstand {
            guard status.isUnderstood else { return false }
        } else if directives.noStore {
            return false
        }
        if policy.isShared {
            guard !directives.isPrivate else { return false }
            let isAllowed = directives.isPublic || directives.mustRevalidate || directives.sharedMaxAge != nil
            guard !request.isAuthorized || isAllowed else { return false }
        }
        return directives.isPublic || directives.maxAge != nil || status.isHeuristicallyCacheable
            || directives.isPrivate || policy.isShared && directives.sharedMaxAge != nil
            || !applying.isTargeted && headerFields.contains(.expires)
    }

    /// The part of the representation in the body; `nil` if the response says one that the body does not have.
    var storableRange: StoredRange? {
        guard status == .partialContent else { return StoredRange(whole: body.count) }
        return headerFields.firstValue(of: .contentRange).flatMap { ContentRange($0) }
            .flatMap { StoredRange($0, byteCount: body.count) }
    }
}

extension DataResponse.Status {
    /// Whether a response with this status ends the exchange, and is neither an update nor about the range of one request.
    fileprivate var isFinal: Bool { (200...599).contains(code) && self != .notModified && self != .rangeNotSatisfiable }

    /// Whether this cache knows what the status means for caching.
    fileprivate var isUnderstood: Bool { phrase != nil || code == 203 }
}

extension HeaderFields {
    /// Returns the fields that a cache stores (RFC 9111 section 3.1), with a `Date`.
    fileprivate func storable(_ applying: ResponseDirectives, policy: CachePolicy, arrival: Date) -> HeaderFields {
        var fields = HeaderFields(
            storableFields(applying, policy: policy).filter { $0.name != .age && $0.name != .cacheStatus }
        )
        // A recipient with a clock adds a missing date, and replaces an invalid one (RFC 9110 section 6.6.1).
        if fields.date(.date, near: arrival) == nil { fields[.date] = arrival.httpDate }
        return fields
    }

    /// Returns the fields without those that concern one connection or must not be reused.
    func storableFields(_ applying: ResponseDirectives, policy: CachePolicy) -> [HeaderField] {
        var excluded = applying.directives.noCacheFields
        if policy.isShared { excluded.formUnion(applying.directives.privateFields) }
        for field in self where field.name == .connection {
            let parts = field.value.utf8.split(separator: UInt8(ascii: ","))
            excluded.formUnion(parts.compactMap { HeaderField.Name($0.trimmed) })
        }
        return filter { !Self.namesOfConnections.contains($0.name) && !excluded.contains($0.name) }
    }

    /// Whether there is an entity tag or a modification date.
    var hasValidator: Bool { contains(.etag) || contains(.lastModified) }

    /// The fields that concern one connection or one proxy.
    private static let namesOfConnections: Set<HeaderField.Name> = [
        .connection, .keepAlive, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .proxyConnection,
        .te, .trailer, .transferEncoding, .upgrade,
    ]
}
