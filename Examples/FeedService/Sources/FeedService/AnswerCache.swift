import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import Synchronization

/// Keeps encoded answers to reads.
///
/// An answer is encoded again only if what it shows has changed. Guests get the last answer again, without another read, for a fraction of
/// a second, unless something was written here in the meantime. A read costs several times as much as sending an answer.
final class AnswerCache: Sendable {
    private struct Kept: Sendable {
        let body: any Equatable & Sendable
        let answer: Answer
        let cacheControl: String
        /// When and after how many changes the body was read; `nil` if it must be read again.
        let reading: (moment: Duration, changeCount: Int)?
    }

    private struct State {
        var kept = SieveCache<String, Kept>(limit: 32 * 1_024 * 1_024, countLimit: 8_192)
        /// The number of requests that may have changed something.
        var changeCount = 0
    }

    private let maximumAge: Duration
    private let reuse: Duration
    private let timer: TimerService
    private let state = Mutex(State())

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - maximumAge: How long caches in front of the service may use an answer.
    ///   - reuse: How long an answer is given to other guests without reading.
    ///   - timer: The clock.
    init(maximumAge: Duration, reuse: Duration, timer: TimerService) {
        (self.maximumAge, self.reuse, self.timer) = (maximumAge, reuse, timer)
    }

    /// Returns the response to a read.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - target: What distinguishes the answers to requests, such as the path and the query.
    ///   - visitor: The sender of the request.
    ///   - read: Reads what to show.
    ///   - encode: Encodes it.
    /// - Returns: The response.
    /// - Throws: The error of `read` or `encode`.
    func response<Body: Equatable & Sendable>(
        to request: Request,
        at target: String,
        of visitor: Visitor,
        reading read: () async throws -> (Body, Freshness),
        encoding encode: (Body) throws -> Answer
    ) async throws -> Response {
        let now = timer.now
        let (earlier, changeCount) = state.withLock { ($0.kept.value(for: target), $0.changeCount) }
        if visitor == .guest, let earlier, let reading = earlier.reading, reading.changeCount == changeCount,
            now - reading.moment < reuse
        {
            return earlier.answer.response(to: request, cacheControl: earlier.cacheControl)
        }
        let (body, freshness) = try await read()
        let cacheControl = freshness.cacheControl(maximumAge: maximumAge)
        let answer = earlier?.body as? Body == body ? earlier?.answer : nil
        let kept = Kept(
            body: body,
            answer: try answer ?? encode(body),
            cacheControl: cacheControl,
            reading: visitor == .guest && freshness == .fresh ? (now, changeCount) : nil
        )
        // Released outside of the lock.
        _ = state.withLock { $0.kept.insert(kept, for: target, cost: 2 * kept.answer.size + 2 * target.utf8.count) }
        return kept.answer.response(to: request, cacheControl: cacheControl)
    }

    /// Lets the next reads see what a request has changed.
    func noteChange() { state.withLock { $0.changeCount += 1 } }
}

/// Lets reads see what other requests have changed.
struct ChangeMiddleware: RouterMiddleware {
    let answers: AnswerCache

    func handle(
        _ request: Request,
        context: FeedRequestContext,
        next: (Request, FeedRequestContext) async throws -> Response
    ) async throws -> Response {
        defer { if request.method != .get, request.method != .head { answers.noteChange() } }
        return try await next(request, context)
    }
}
