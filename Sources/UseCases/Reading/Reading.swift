/// An answer of a repository with its provenance: where it came from, and what had to be left out of it.
public struct Reading<Value> {
    /// The answer.
    public let value: Value
    /// Where the answer came from.
    public let origin: Origin
    /// The records that were damaged and so are missing from the value, in the order they were found.
    public let rejected: [RejectedRecord]

    /// Makes a reading of a value that came from somewhere, complete unless records are named as rejected.
    public init(_ value: Value, origin: Origin, rejected: [RejectedRecord] = []) {
        self.value = value
        self.origin = origin
        self.rejected = rejected
    }

    /// A reading of what `transform` makes of the value, with the same provenance.
    ///
    /// - Throws: what `transform` throws.
    public func map<Other, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Reading<Other> {
        Reading<Other>(try transform(value), origin: origin, rejected: rejected)
    }
}

extension Reading: Sendable where Value: Sendable {}
extension Reading: Equatable where Value: Equatable {}
