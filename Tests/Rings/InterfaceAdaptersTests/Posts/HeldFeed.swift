import InwardCore
import Synchronization
import UseCases

/// A feed that answers when a test tells it to, also whom is cancelled by then.
final class HeldFeed: Sendable {
    /// Somebody who reads the feed and waits for the answer.
    struct Question: Sendable {
        let query: FeedQuery
        let policy: ReadPolicy
        fileprivate let cancellations: AsyncStream<Void>
        fileprivate let continuation: CheckedContinuation<Result<FeedPage, ReadFeedError>, Never>

        /// Waits until the reader is cancelled.
        func isCancelled() async {
            for await _ in cancellations {}
        }

        /// Gives the answer, once.
        func answer(_ result: Result<FeedPage, ReadFeedError>) {
            continuation.resume(returning: result)
        }
    }

    private let questions: AsyncStream<Question>
    private let asked: AsyncStream<Question>.Continuation
    private let answers = Mutex(0)

    init() {
        (questions, asked) = AsyncStream.makeStream()
    }

    /// How many readers have gone away with their answer.
    var answered: Int { answers.withLock(\.self) }

    /// Waits for the next reader, for one test.
    func nextQuestion() async -> Question? {
        var iterator = questions.makeAsyncIterator()
        return await iterator.next()
    }

    func read(_ query: FeedQuery, _ policy: ReadPolicy) async throws(ReadFeedError) -> FeedPage {
        let (cancellations, cancelled) = AsyncStream.makeStream(of: Void.self)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                asked.yield(
                    Question(query: query, policy: policy, cancellations: cancellations, continuation: continuation)
                )
            }
        } onCancel: {
            cancelled.finish()
        }
        answers.withLock { $0 += 1 }
        return try result.get()
    }
}
