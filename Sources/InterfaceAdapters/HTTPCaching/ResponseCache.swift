import Synchronization
import UseCases

/// Answers that are fresh, kept in memory for whom they were given to.
///
/// Share one among the sessions of an app, and give each a partition of its own: what is kept in one is found in no other.
public final class ResponseCache: Sendable {
    private let entries: Mutex<ResponseEntries>
    private let stopwatch: Stopwatch

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - byteLimit: About how many bytes it may take, for all partitions together. What was stored first goes first.
    ///   - clock: What freshness is told by.
    public init(byteLimit: Int, clock: some Clock<Duration>) {
        entries = Mutex(ResponseEntries(byteLimit: byteLimit))
        stopwatch = Stopwatch(clock)
    }

    /// How many answers are kept, in all partitions.
    public var count: Int { entries.withLock(\.count) }

    /// An empty part of the cache that nobody else has.
    public func makePartition() -> Partition {
        Partition(cache: self, number: entries.withLock { $0.openPartition() })
    }

    /// A part of a ``ResponseCache``.
    public struct Partition: Sendable {
        fileprivate let cache: ResponseCache
        fileprivate let number: Int

        /// Forgets what is kept here, and keeps nothing here any more, whatever is under way.
        ///
        /// - Complexity: O(n) in the number of answers that are kept in all partitions.
        public func close() {
            cache.entries.withLock { $0.closePartition(number) }
        }

        /// Forgets what is kept here, and what is under way is not kept.
        ///
        /// - Complexity: O(n) in the number of answers that are kept in all partitions.
        func removeAll() {
            cache.entries.withLock { $0.removeAll(in: number) }
        }

        /// What tells an answer that is asked for now from those asked for earlier or later, and in which state of the
        /// partition it was; without a version once the partition is closed.
        func question() -> Question {
            cache.entries.withLock { Question(version: $0.version(of: number), number: $0.nextQuestion()) }
        }

        struct Question {
            let version: Int?
            let number: Int
        }

        /// The answer that was kept for a request and is still fresh, which says how old it is (RFC 9111 section 5.1); `nil` if
        /// there is none.
        func response(to request: DataRequest) -> DataResponse? {
            let now = cache.stopwatch.elapsed
            let kept = cache.entries.withLock { $0.response(to: request, in: number, at: now) }
            guard var response = kept?.response else { return nil }
            guard let freshness = kept?.freshness, let lifetime = response.headerFields.maxAge else { return response }
            response.headerFields[.age] = String(Int64(lifetime) - freshness.components.seconds)
            return response
        }

        /// Keeps an answer as long as it says that it is fresh, unless the partition has been emptied since it was asked for.
        ///
        /// An earlier answer gives way in any case: nobody is told what was true before that.
        func store(_ response: DataResponse, to request: DataRequest, asked question: Question) {
            let expiry = response.headerFields.freshness.map { cache.stopwatch.elapsed + $0 }
            cache.entries.withLock {
                $0.store(
                    response,
                    to: request,
                    in: number,
                    askedIn: question.version,
                    question: question.number,
                    until: expiry,
                    bytes: response.bytesToKeep(for: request)
                )
            }
        }
    }
}
