import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import Synchronization

/// Refuses requests at once, with 503, while too many are being processed. A client that waits in a queue would give up later, and its
/// request would be work for nothing.
struct OverloadMiddleware<Context: RequestContext>: RouterMiddleware {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private let limit: Int
    private let count = Count()

    init(limit: Int) {
        self.limit = limit
    }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        defer { count.value.subtract(1, ordering: .relaxed) }
        guard count.value.add(1, ordering: .relaxed).newValue <= limit else {
            throw Overload()
        }
        return try await next(request, context)
    }
}

/// The error of a request that was refused because there are too many.
struct Overload: ProblemDetailsConvertible {
    var problemDetails: ProblemDetails { .unavailable(retryAfter: .seconds(1)) }
}

/// Limits the rate of the requests of each user who has signed in.
struct QuotaMiddleware: RouterMiddleware {
    let quotas: Quotas

    func handle(
        _ request: Request,
        context: FeedRequestContext,
        next: (Request, FeedRequestContext) async throws -> Response
    ) async throws -> Response {
        if case .user(let user, _) = context.visitor, let wait = quotas.wait(of: user) {
            throw ProblemDetails(429, detail: "You send too many requests. Wait, and try again.", retryAfter: wait)
        }
        return try await next(request, context)
    }
}

/// Token buckets of users: each request takes a token, and tokens come back at a rate.
final class Quotas: Sendable {
    private struct Bucket: Sendable {
        var tokens: Double
        var date: Duration
    }

    private let rate: Double
    private let capacity: Double
    private let timer: TimerService
    // The bucket of a user who is forgotten is full again.
    private let buckets = Mutex(SieveCache<String, Bucket>(limit: 10_000))

    /// Creates the buckets.
    ///
    /// - Parameters:
    ///   - rate: How many requests a user may send in a second, on average. A user who has been silent may send twice as many.
    ///   - timer: The clock.
    init(rate: Int, timer: TimerService) {
        self.rate = Double(rate)
        capacity = 2 * Double(rate)
        self.timer = timer
    }

    /// Takes a token of a user.
    ///
    /// - Returns: How long the user has to wait for the next token; `nil` if there was one.
    func wait(of user: String) -> Duration? {
        let now = timer.now
        return buckets.withLock { buckets in
            var bucket = buckets.value(for: user) ?? Bucket(tokens: capacity, date: now)
            bucket.tokens = min(capacity, bucket.tokens + max(0, (now - bucket.date) / .seconds(1)) * rate)
            bucket.date = now
            let isFree = bucket.tokens >= 1
            if isFree { bucket.tokens -= 1 }
            _ = buckets.insert(bucket, for: user, cost: 1)
            return isFree ? nil : .seconds((1 - bucket.tokens) / rate)
        }
    }
}
