/// How long answers count as fresh, and how long they are kept, which are two different things.
///
///     var lifetimes = Lifetimes(staleAfter: .seconds(300), staleWhileRevalidate: .seconds(60))
///     lifetimes.missingExpiresAfter = .seconds(5)
///
/// A stale answer is marked as stale, and is given only where a ``ReadPolicy`` or one of these limits allows it.
///
/// Negative durations count as zero, durations beyond the range of `Int64` seconds as the longest possible, and a jitter outside of
/// 0 to 1 as the nearest of the two.
public struct Lifetimes: Hashable, Sendable {
    /// How long an answer counts as fresh.
    public var staleAfter: Duration { didSet { staleAfter = Self.clamped(staleAfter) } }
    /// How long after that a stale answer is still given at once while it is refreshed (RFC 5861, stale-while-revalidate).
    public var staleWhileRevalidate: Duration {
        didSet { staleWhileRevalidate = Self.clamped(staleWhileRevalidate) }
    }
    /// How long a stale answer is given if the upstream fails (RFC 5861, stale-if-error).
    public var staleIfError: Duration { didSet { staleIfError = Self.clamped(staleIfError) } }
    /// How long an answer is kept at all, for reads that accept any age.
    public var expiresAfter: Duration { didSet { expiresAfter = Self.clamped(expiresAfter) } }
    /// How long the absence of an entity is remembered; at most as long as an answer is fresh.
    public var missingExpiresAfter: Duration { didSet { missingExpiresAfter = Self.clamped(missingExpiresAfter) } }
    /// The share of ``staleAfter`` that is taken off at random, from 0 to 1, so that answers fetched together do not become stale
    /// together.
    public var jitter: Double { didSet { jitter = Self.clamped(jitter) } }

    /// Creates lifetimes. By default an answer is fresh for a minute, replaces an error for a day, and is kept for a week.
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

    // So that the sum of two of them and a clock's time is still a duration.
    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), .seconds(Int64.max)) }

    // NaN counts as zero.
    private static func clamped(_ jitter: Double) -> Double { min(max(0, jitter), 1) }

    /// How long an answer, or an absence, is fresh. The chance, from 0 to 1, says how much of the jitter is taken off.
    func freshness(isAbsent: Bool, chance: Double) -> Duration {
        (isAbsent ? min(missingExpiresAfter, staleAfter) : staleAfter) * (1 - jitter * chance)
    }
}
