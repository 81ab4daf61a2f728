/// How long responses are fresh, and how long they are cached.
///
///     var lifetimes = Lifetimes(staleAfter: .seconds(300), staleWhileRevalidate: .seconds(60))
///     lifetimes.missingExpiresAfter = .seconds(5)
///
/// A stale response is marked as stale. It is returned only if the `ReadPolicy` or one of these limits allows it.
///
/// Values are clamped: durations to the range from zero to `Int64.max` seconds, and the jitter to the range from 0 to 1.
public struct Lifetimes: Hashable, Sendable {
    /// How long a response is fresh.
    public var staleAfter: Duration { didSet { staleAfter = Self.clamped(staleAfter) } }
    /// How long after that a stale response is still returned immediately while it is refreshed (RFC 5861, stale-while-revalidate).
    public var staleWhileRevalidate: Duration {
        didSet { staleWhileRevalidate = Self.clamped(staleWhileRevalidate) }
    }
    /// How long a stale response is returned if the upstream fails (RFC 5861, stale-if-error).
    public var staleIfError: Duration { didSet { staleIfError = Self.clamped(staleIfError) } }
    /// How long a response is cached, for reads that accept any age.
    public var expiresAfter: Duration { didSet { expiresAfter = Self.clamped(expiresAfter) } }
    /// How long a missing entity is remembered as missing; at most as long as a response is fresh.
    public var missingExpiresAfter: Duration { didSet { missingExpiresAfter = Self.clamped(missingExpiresAfter) } }
    /// The maximum share of ``staleAfter``, from 0 to 1, that is subtracted randomly, so that responses fetched together do not
    /// become stale together.
    public var jitter: Double { didSet { jitter = Self.clamped(jitter) } }

    /// Creates lifetimes. By default a response is fresh for a minute, replaces an error for a day, and is cached for a week.
    public init(
        staleAfter: Duration = .seconds(60),
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .seconds(86_400),
        expiresAfter: Duration = .seconds(604_800),
        missingExpiresAfter: Duration = .seconds(10),
        jitter: Double = 0.1
    ) {
        self.staleAfter = Self.clamped(staleAfter)
        self.staleWhileRevalidate = Self.clamped(staleWhileRevalidate)
        self.staleIfError = Self.clamped(staleIfError)
        self.expiresAfter = Self.clamped(expiresAfter)
        self.missingExpiresAfter = Self.clamped(missingExpiresAfter)
        self.jitter = Self.clamped(jitter)
    }

    // Keeps the sum of two lifetimes and a clock time within the range of a duration.
    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), .seconds(Int64.max)) }

    // NaN counts as zero.
    private static func clamped(_ jitter: Double) -> Double { min(max(0, jitter), 1) }

    /// Returns how long a response, or a missing entity, is fresh. The chance, from 0 to 1, is the share of the jitter that is
    /// subtracted.
    func freshness(isAbsent: Bool, chance: Double) -> Duration {
        (isAbsent ? min(missingExpiresAfter, staleAfter) : staleAfter) * (1 - jitter * chance)
    }
}
