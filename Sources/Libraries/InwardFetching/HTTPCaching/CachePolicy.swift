#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rules of a cache where HTTP leaves a choice.
///
/// ```swift
/// var policy = CachePolicy.private
/// policy.maximumLifetime = .seconds(3_600)
/// let cached = client.caching(in: cache.makePartition(policy))
/// ```
public struct CachePolicy: Hashable, Sendable {
    /// Whether the responses are for several users (RFC 9111 section 1).
    ///
    /// A shared cache does not store responses that are `private`, or that answer a request with `Authorization` and do not allow
    /// it. It obeys `s-maxage`, `proxy-revalidate` and `CDN-Cache-Control` (RFC 9213).
    public let isShared: Bool
    /// The name of the cache in `Cache-Status` (RFC 9211).
    public var name = "Inward"
    /// The longest time for which a response is fresh, whatever it states; by default, a year.
    public var maximumLifetime: Duration = .seconds(31_536_000)
    /// The part of the time since its last modification for which a response is fresh if it states no lifetime; by default, 0.1
    /// (RFC 9111 section 4.2.2). Zero turns estimates off.
    public var heuristicFraction = 0.1
    /// The longest time for which a response is fresh if it states no lifetime; by default, a day.
    public var heuristicLimit: Duration = .seconds(86_400)
    /// How long after its expiry a response is used if the upstream does not answer and the response does not forbid it; by default,
    /// a day (RFC 9111 section 4.2.4).
    public var staleLimit: Duration = .seconds(86_400)
    /// How long after its expiry a response with a validator stays in a ``ResponseStore``; by default, a week. One without a validator
    /// stays for as long as it may be used in place of an answer.
    public var retention: Duration = .seconds(604_800)
    /// The highest number of variants of one URL, which differ in the request fields that `Vary` names; by default, 32.
    public var variantLimit = 32
    /// Whether a request with an unsafe method removes all responses of the partition, and not only those of its URL and of the URLs
    /// in `Location` and `Content-Location`; by default, `false`.
    ///
    /// Use it where a change of one resource changes others, such as lists, and their responses are fresh for long.
    public var invalidatesAll = false

    /// The policy of a cache for one user.
    public static let `private` = Self(isShared: false)
    /// The policy of a cache for several users.
    public static let shared = Self(isShared: true)

    private init(isShared: Bool) {
        self.isShared = isShared
    }
}

extension CachePolicy {
    /// Returns for how long after its arrival a cache with this policy may use a response to `GET` without validating it; `nil` if it does
    /// not store the response (RFC 9111 sections 3 and 4.2).
    ///
    /// ```swift
    /// let response = try await client.fetch(request)
    /// if let lifetime = CachePolicy.shared.remainingLifetime(of: response, to: request, arrivedAt: .now) {
    ///     print("Caches may store this response, and use it for \(lifetime).")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request that it answers.
    ///   - arrival: When the response arrived. The time that it took to arrive counts as zero.
    /// - Returns: The freshness lifetime without the age, or zero if the response must be validated first; `nil` if it is not stored, such
    ///   as one to another method, from a cache or a fallback, or after a redirect.
    public func remainingLifetime(
        of response: DataResponse,
        to request: DataRequest,
        arrivedAt arrival: Date
    ) -> Duration? {
        let request = CacheRequest(request)
        let directives = ResponseDirectives(response.headerFields, for: self)
        guard request.isGet, response.isStorable(for: request, directives, self), response.storableRange != nil,
            response.headerFields.varyingNames != nil
        else { return nil }
        let moment = CacheMoment(uptime: .zero, date: arrival)
        let freshness = ResponseFreshness(
            of: response,
            directives: directives,
            sent: moment,
            arrival: moment,
            policy: self
        )
        return directives.directives.noCache ? .zero : max(.zero, freshness.remaining(at: moment.uptime))
    }
}
