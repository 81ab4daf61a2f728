import InwardCore
import Synchronization
import UseCases

/// A feed whose answers a test provides, even after the reader was cancelled.
final class HeldFeed: Sendable {
    /// A read that waits for its answer.
    struct Question: Sendable {
        let query: FeedQuery
        let policy: ReadPolicy
        fileprivate let cancellations: AsyncStream<Void>
        fileprivate let continuation: CheckedContinuation<Result<FeedPage, ReadFeedError>, Never>

        /// Waits until the read is cancelled.
        func isCancelled() async {
            for await _ in cancellations {}
        }

        /// Answers the read. Call it once.
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

    /// The number of answered reads.
    var answered: Int { answers.withLock(\.self) }

    /// Waits for the next read. Only one task may wait.
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
