/// An answer of a repository together with its provenance.
///
/// ```swift
/// let reading = try await users.list(.cacheFirst)
/// if reading.isStale { print("The list is \(reading.age) old.") }
/// let names = reading.map { users in users.map(\.name) }
/// ```
///
/// The provenance says where the answer came from, how old it is, which records it omits, and whether it is a fallback.
public struct Reading<Value> {
    /// The answer.
    public let value: Value
    /// Where the answer came from.
    public let origin: Origin
    /// The time since the upstream was asked for the answer. Zero if this read asked the upstream.
    public let age: Duration
    /// Whether the answer is older than the repository considers fresh.
    public let isStale: Bool
    /// Whether the answer contains writes that this program has accepted and the upstream has not.
    public let isPending: Bool
    /// The damaged records that are missing from the value, in the order in which they were found.
    public let rejected: [RejectedRecord]
    /// The error for which the repository returned a fallback, or `nil` if the answer is not a fallback.
    public let fallbackReason: RepositoryError?

    /// Creates a reading.
    ///
    /// By default, the value was received just now, is fresh and complete, has no pending writes, and is not a fallback.
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

    /// Returns a reading of the transformed value with the same provenance.
    ///
    /// - Throws: Any error that `transform` throws.
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

/// The place that an answer came from. Origins are ordered from the nearest to the farthest: memory, store, upstream.
///
/// ```swift
/// let reading = try await users.list(.upstreamFirst)
/// if reading.origin < .upstream { print("Showing a copy from \(reading.origin).") }
/// ```
public struct Origin: Hashable, Comparable, Sendable, CustomStringConvertible {
    enum Code: Hashable, Comparable {
        case memory
        case store
        case upstream
    }

    let code: Code

    /// The memory of this process.
    public static let memory = Self(code: .memory)

    /// Storage of this program that outlives the process.
    public static let store = Self(code: .store)

    /// The upstream, which was asked for this answer.
    public static let upstream = Self(code: .upstream)

    /// Returns whether the first origin is nearer than the second.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.code < rhs.code
    }

    /// The name of the origin.
    public var description: String {
        switch code {
        case .memory: "memory"
        case .store: "store"
        case .upstream: "upstream"
        }
    }
}

/// A damaged record that was omitted from a list.
///
/// ```swift
/// for record in try await users.list().rejected {
///     print("The upstream sent a damaged record: \(record).")  // users[3].id is missing
/// }
/// ```
public struct RejectedRecord: Hashable, Sendable, CustomStringConvertible {
    /// The name of the list, such as `users`.
    public let list: String
    /// The zero-based position of the record in the list.
    public let position: Int
    /// The path of the invalid field, such as `address.geo.lat`, or `nil` if the record as a whole is invalid.
    public let field: String?
    /// What is wrong, as the end of a sentence, such as `is missing`.
    public let reason: String

    /// Creates a description of a damaged record.
    public init(list: String, position: Int, field: String?, reason: String) {
        self.list = list
        self.position = position
        self.field = field
        self.reason = reason
    }

    /// The record, the field, and the reason, such as `users[3].id is missing`.
    public var description: String {
        let path = field.map { ".\($0)" } ?? ""
        return "\(list)[\(position)]\(path) \(reason)"
    }
}

/// An asynchronous sequence of a repository's cached answer, followed by the upstream's answer.
///
/// ```swift
/// let readings = Readings { policy throws(RepositoryError) in try await users.list(policy) }
/// for try await reading in readings {
///     print("\(reading.value.count) users from \(reading.origin)")
/// }
/// ```
///
/// The sequence has one or two elements. The first is the cached answer, if there is one. If that is stale or too old, or if
/// there is none, the upstream's answer follows. The sequence throws if the upstream fails.
public struct Readings<Value: Sendable>: AsyncSequence, Sendable {
    /// A function that asks the repository with a policy.
    public typealias Read = @Sendable (ReadPolicy) async throws(RepositoryError) -> Reading<Value>

    private let maximumAge: Duration?
    private let read: Read

    /// Creates the sequence for a repository's read function.
    ///
    /// - Parameters:
    ///   - maximumAge: The age beyond which even a fresh cached answer is too old. `nil` for no limit.
    ///   - read: The function that asks the repository.
    public init(notOlderThan maximumAge: Duration? = nil, _ read: @escaping Read) {
        self.maximumAge = maximumAge
        self.read = read
    }

    /// Creates an iterator, which asks the repository again.
    public func makeAsyncIterator() -> Iterator { Iterator(maximumAge: maximumAge, read: read) }

    /// An iterator over the readings.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Step {
            case cache
            case upstream
            case end
        }

        fileprivate let maximumAge: Duration?
        fileprivate let read: Read
        private var step = Step.cache

        fileprivate init(maximumAge: Duration?, read: @escaping Read) {
            self.maximumAge = maximumAge
            self.read = read
        }

        /// Returns the next reading, or `nil` after the last.
        ///
        /// - Throws: A ``RepositoryError`` if the upstream fails or the task is cancelled. A cached answer is returned before
        ///   the upstream is asked.
        public mutating func next() async throws(RepositoryError) -> Reading<Value>? {
            switch step {
            case .cache:
                // The sequence ends after an error.
                step = .end
                let kept = try await kept()
                let isYoung = maximumAge.map { largest in kept.map { $0.age <= largest } ?? false } ?? true
                if kept?.isStale != false || !isYoung { step = .upstream }
                if let kept { return kept }
                return try await next()
            case .upstream:
                step = .end
                return try await read(.upstreamOnly)
            case .end:
                return nil
            }
        }

        /// Returns the cached answer, or `nil` if there is none or it cannot be read.
        private func kept() async throws(RepositoryError) -> Reading<Value>? {
            do {
                return try await read(.cacheOnly)
            } catch {
                if error.reason == .cancelled { throw error }
                return nil
            }
        }

        /// Returns the next reading, or `nil` after the last.
        ///
        /// - Throws: A ``RepositoryError`` if the upstream fails.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<Value>? {
            try await next()
        }
    }
}
