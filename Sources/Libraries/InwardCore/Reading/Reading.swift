/// An answer of a repository with its provenance: where it came from, how old it is, what had to be left out of it, and whether
/// it is one in place of what was asked for.
public struct Reading<Value> {
    /// The answer.
    public let value: Value
    /// Where the answer came from.
    public let origin: Origin
    /// How long ago the source gave it; not at all if it did so for this answer.
    public let age: Duration
    /// Whether it is older than what counts as fresh.
    public let isStale: Bool
    /// Whether there is something in it that this program has accepted and the source has not.
    public let isPending: Bool
    /// The records that were damaged and so are missing from the value, in the order they were found.
    public let rejected: [RejectedRecord]
    /// Why this is not the answer that was asked for but one in its place; `nil` if it is the one.
    public let degradation: RepositoryError?

    /// Makes a reading of a value that came from somewhere: just now, fresh and accepted by the source unless it says otherwise,
    /// complete unless records are named as rejected, and the one that was asked for unless it says why not.
    @inlinable
    public init(
        _ value: Value,
        origin: Origin,
        age: Duration = .zero,
        isStale: Bool = false,
        isPending: Bool = false,
        rejected: [RejectedRecord] = [],
        degradation: RepositoryError? = nil
    ) {
        self.value = value
        self.origin = origin
        self.age = age
        self.isStale = isStale
        self.isPending = isPending
        self.rejected = rejected
        self.degradation = degradation
    }

    /// A reading of what `transform` makes of the value, with the same provenance.
    ///
    /// - Throws: what `transform` throws.
    @inlinable
    public func map<Other, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Reading<Other> {
        Reading<Other>(
            try transform(value),
            origin: origin,
            age: age,
            isStale: isStale,
            isPending: isPending,
            rejected: rejected,
            degradation: degradation
        )
    }
}

extension Reading: Sendable where Value: Sendable {}
extension Reading: Equatable where Value: Equatable {}
