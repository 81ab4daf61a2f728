/// A sequence that first gives a repository's cached answer, then the source's answer.
///
///     let readings = Readings { policy throws(RepositoryError) in try await listUsers(policy) }
///     for try await reading in readings {
///         show(reading.value)
///     }
///
/// The sequence has one or two elements: the cached answer, if there is one, and the source's answer, unless the cached
/// answer is fresh and young enough. Then it ends, or it throws the source's error.
public struct Readings<Value: Sendable>: AsyncSequence, Sendable {
    /// A function that asks the repository with a policy.
    public typealias Read = @Sendable (ReadPolicy) async throws(RepositoryError) -> Reading<Value>

    private let maximumAge: Duration?
    private let read: Read

    /// Creates the sequence for a repository's read function.
    ///
    /// - Parameters:
    ///   - maximumAge: The maximum age of a fresh cached answer for which the source is not asked. `nil` means that any
    ///     fresh answer is young enough.
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
        /// - Throws: A ``RepositoryError`` if the source fails. Any cached answer was returned before.
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
        /// - Throws: A ``RepositoryError`` if the source fails.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<Value>? {
            try await next()
        }
    }
}
