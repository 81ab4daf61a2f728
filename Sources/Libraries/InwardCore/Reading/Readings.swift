/// What a repository keeps, at once, and then what the source has, when it comes.
///
/// A sequence of one or two readings: what is kept, if there is anything, and unless that is fresh and young enough, what the
/// source gives. It ends behind that, or fails as the source did.
public struct Readings<Value: Sendable>: AsyncSequence, Sendable {
    /// Asks a repository, as far as a policy goes.
    public typealias Read = @Sendable (ReadPolicy) async throws(RepositoryError) -> Reading<Value>

    private let maximumAge: Duration?
    private let read: Read

    /// Makes the sequence of what a repository is asked by.
    ///
    /// - Parameters:
    ///   - maximumAge: How old what is kept may be at most, to be given without asking the source too; `nil` for as long as it is
    ///     fresh.
    ///   - read: Asks the repository.
    public init(notOlderThan maximumAge: Duration? = nil, _ read: @escaping Read) {
        self.maximumAge = maximumAge
        self.read = read
    }

    /// Makes an iterator, which asks anew.
    public func makeAsyncIterator() -> Iterator { Iterator(maximumAge: maximumAge, read: read) }

    /// Gives the readings one after the other.
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

        /// The next reading; `nil` behind the last.
        ///
        /// - Throws: a ``RepositoryError`` if the source does not give what was asked for. What was kept was given before.
        public mutating func next() async throws(RepositoryError) -> Reading<Value>? {
            switch step {
            case .cache:
                // Behind an error comes nothing.
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

        /// What is kept; `nil` if that is nothing, or cannot be had.
        private func kept() async throws(RepositoryError) -> Reading<Value>? {
            do {
                return try await read(.cacheOnly)
            } catch {
                if error.reason == .cancelled { throw error }
                return nil
            }
        }

        /// The next reading; `nil` behind the last.
        ///
        /// - Throws: a ``RepositoryError`` if the source does not give what was asked for.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<Value>? {
            try await next()
        }
    }
}
