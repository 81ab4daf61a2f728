/// How long answers count as fresh, and how long they are kept: two different things.
///
/// What is stale is given only as such, and only where a policy or one of the limits here lets it.
///
/// What is negative is taken for zero, what is more seconds than an `Int64` holds for so many, and a spread outside of 0 to 1 for
/// the nearest of the two.
public struct Lifetimes: Hashable, Sendable {
    /// How long an answer counts as fresh.
    public var fresh: Duration { didSet { fresh = Self.clamped(fresh) } }
    /// How long behind that it is still given at once, while it is asked for anew (RFC 5861, stale-while-revalidate).
    public var staleWhileRevalidating: Duration {
        didSet { staleWhileRevalidating = Self.clamped(staleWhileRevalidating) }
    }
    /// How long behind the freshness it is given where the upstream fails (RFC 5861, stale-if-error).
    public var staleOnError: Duration { didSet { staleOnError = Self.clamped(staleOnError) } }
    /// How long an answer is kept, for whoever takes it however old.
    public var kept: Duration { didSet { kept = Self.clamped(kept) } }
    /// How long it is remembered that there is no entity of an identity; not longer than an answer is fresh.
    public var absence: Duration { didSet { absence = Self.clamped(absence) } }
    /// The share of the freshness that is taken off at random, from 0 to 1, so that what was filled together is not stale
    /// together.
    public var spread: Double { didSet { spread = Self.clamped(spread) } }

    /// Makes lifetimes: fresh for a minute, given in place of an error for a day, kept for a week.
    public init(
        fresh: Duration = .seconds(60),
        staleWhileRevalidating: Duration = .zero,
        staleOnError: Duration = .seconds(86_400),
        kept: Duration = .seconds(604_800),
        absence: Duration = .seconds(10),
        spread: Double = 0.1
    ) {
        self.fresh = Self.clamped(fresh)
        self.staleWhileRevalidating = Self.clamped(staleWhileRevalidating)
        self.staleOnError = Self.clamped(staleOnError)
        self.kept = Self.clamped(kept)
        self.absence = Self.clamped(absence)
        self.spread = Self.clamped(spread)
    }

    // Such that the sum of some of them, and of what a clock tells, is a duration too.
    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), .seconds(Int64.max)) }

    // What is no number is none of what is taken off.
    private static func clamped(_ spread: Double) -> Double { min(max(0, spread), 1) }

    /// For how long an answer is fresh, or it is remembered that there is none, where a chance from 0 to 1 says how much of the
    /// spread is taken off.
    func freshness(isAbsent: Bool, chance: Double) -> Duration {
        (isAbsent ? min(absence, fresh) : fresh) * (1 - spread * chance)
    }
}
