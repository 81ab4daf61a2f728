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
    public let fallbackReason: RepositoryError?

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
        fallbackReason: RepositoryError? = nil
    ) {
        self.value = value
        self.origin = origin
        self.age = age
        self.isStale = isStale
        self.isPending = isPending
        self.rejected = rejected
        self.fallbackReason = fallbackReason
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
            fallbackReason: fallbackReason
        )
    }
}

extension Reading: Sendable where Value: Sendable {}
extension Reading: Equatable where Value: Equatable {}

/// Where an answer came from.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    enum Code: Hashable {
        case memory
        case store
        case upstream
    }

    let code: Code

    /// Kept in this process.
    public static let memory = Self(code: .memory)

    /// Kept by this program beyond the life of a process.
    public static let store = Self(code: .store)

    /// Asked of the source for this answer.
    public static let upstream = Self(code: .upstream)

    /// The origin's name.
    public var description: String {
        switch code {
        case .memory: "memory"
        case .store: "store"
        case .upstream: "upstream"
        }
    }
}

/// A record that a list had to leave out because it was damaged.
public struct RejectedRecord: Hashable, Sendable, CustomStringConvertible {
    /// What the list holds, such as `users`.
    public let list: String
    /// Where in the list the record stood, counted from zero.
    public let position: Int
    /// The path of the field that is wrong, such as `address.geo.lat`; `nil` if the record as a whole is.
    public let field: String?
    /// What is wrong with it, as the end of a sentence: `is missing`.
    public let reason: String

    /// Names a damaged record by its list and position, and says what is wrong with which field.
    public init(list: String, position: Int, field: String?, reason: String) {
        self.list = list
        self.position = position
        self.field = field
        self.reason = reason
    }

    /// The record, the field and the reason, such as `users[3].id is missing`.
    public var description: String {
        let path = field.map { ".\($0)" } ?? ""
        return "\(list)[\(position)]\(path) \(reason)"
    }
}
