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
