public import InwardCore

/// An answer that is kept, and how long it is of use, by the clock of the repository.
///
/// It does not change, and is an object so that whoever looks for it takes hold of one thing, however much an entity consists of.
@usableFromInline
final class KeptAnswer<Value: Sendable>: Sendable {
    /// What may be done with an answer that is kept.
    @usableFromInline
    enum Use: Equatable {
        /// It is given.
        case given(isStale: Bool)
        /// It is given, and asked for anew for those who come later.
        case givenWhileRevalidating
        /// It is not given.
        case notGiven
    }

    @usableFromInline let value: Value
    /// When it was asked for.
    @usableFromInline let time: Duration
    /// From when on it is stale.
    @usableFromInline let staleTime: Duration

    @usableFromInline
    init(value: Value, time: Duration, staleTime: Duration) {
        self.value = value
        self.time = time
        self.staleTime = staleTime
    }

    /// How old it is.
    @inlinable
    func age(at now: Duration) -> Duration { max(.zero, now - time) }

    /// What may be done with it.
    ///
    /// - Parameters:
    ///   - policy: How far the read may go.
    ///   - now: What time it is.
    ///   - lifetimes: For how long stale answers are of use.
    ///   - hasFailed: Whether the upstream was asked before, and failed.
    /// - Returns: what may be done.
    @inlinable
    func use(_ policy: ReadPolicy, at now: Duration, _ lifetimes: Lifetimes, hasFailed: Bool = false) -> Use {
        let age = age(at: now)
        if age > lifetimes.kept { return .notGiven }
        if let largest = policy.largestAge, age > largest { return .notGiven }
        let isStale = now >= staleTime
        guard policy.asksUpstream else { return .given(isStale: isStale) }
        if policy.takesLocalInstead { return hasFailed ? .given(isStale: isStale) : .notGiven }
        guard policy.allowsCopies else { return .notGiven }
        if !isStale { return .given(isStale: false) }
        if hasFailed { return now < staleTime + lifetimes.staleOnError ? .given(isStale: true) : .notGiven }
        return now < staleTime + lifetimes.staleWhileRevalidating ? .givenWhileRevalidating : .notGiven
    }
}
