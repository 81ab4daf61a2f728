public import InwardCore
public import InwardFetching
import Synchronization

/// A data fetcher that injects faults and delays. A seed determines what happens to the *n*-th request, regardless of its
/// content and of concurrent requests.
///
/// ```swift
/// let chaos = ChaosDataFetcher(
///     StubDataFetcher(DataResponse()),
///     plan: ChaosPlan([.unreachable: 0.1]),
///     seed: 7
/// )
/// _ = try? await chaos.fetch(DataRequest(url: CommentClient.baseURL))
/// print(chaos.counts[.unreachable])
/// ```
///
/// The fetcher represents an upstream, so place it at the end of a pipeline: each fault fails one attempt. With a
/// ``DeterministicScheduler``, the entire run follows from the seed.
public final class ChaosDataFetcher: DataFetcher, CustomStringConvertible {
    private struct State {
        var seeds: SplitMix64
        var counts = ChaosCounts()
    }

    private let state: Mutex<State>
    private let base: any DataFetcher
    private let plan: ChaosPlan
    private let timer: TimerService

    /// The seed that determines the fates of requests.
    public let seed: UInt64

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - base: The fetcher that provides the answers.
    ///   - plan: The shares of faults and delays.
    ///   - seed: The seed that determines the fates. Print it when a test fails.
    ///   - timer: The timer service for delays.
    public init(
        _ base: any DataFetcher,
        plan: ChaosPlan,
        seed: UInt64 = .random(in: 0 ... .max),
        timer: TimerService = .continuous
    ) {
        self.base = base
        self.plan = plan
        self.seed = seed
        self.timer = timer
        state = Mutex(State(seeds: SplitMix64(seed: seed)))
    }

    /// The counts of requests and faults so far.
    public var counts: ChaosCounts { state.withLock(\.counts) }

    /// The seed and the plan.
    public var description: String { "chaos with the seed \(seed): \(plan)" }

    /// Whether the base honors deadlines. Injected delays always end at the task's deadline.
    public var honorsDeadlines: Bool { base.honorsDeadlines }

    /// Returns the base's response, possibly damaged by a fault, or the error response of a fault such as `unavailable`.
    ///
    /// - Throws: The `FetchError` of an injected fault, of a cancellation or a passed deadline, or of the base.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let fate = nextFate()
        if fate.fault == .unanswered {
            count(fate)
            try await wait(nil, with: request)
        } else {
            try await wait(fate.latency, with: request)
            count(fate)
        }
        switch fate.fault {
        case .unreachable: throw fault(request, .unreachable, "could not be sent")
        case .failed: return DataResponse(status: 500)
        case .unavailable: return refusal(503)
        case .tooManyRequests: return refusal(429)
        case .interrupted:
            _ = try await send(request)
            throw fault(request, .interrupted, "was interrupted")
        case .timedOut:
            _ = try await send(request)
            throw fault(request, .timedOut, "was not answered in time")
        case .truncated, .garbled, .unanswered, nil:
            var response = try await send(request)
            if fate.fault == .truncated { fate.truncate(&response.body) }
            if fate.fault == .garbled { fate.garble(&response.body) }
            return response
        }
    }

    private func nextFate() -> ChaosFate {
        let seed = state.withLock { state in
            state.counts.requests += 1
            return state.seeds.next()
        }
        return ChaosFate(plan, seed: seed)
    }

    private func count(_ fate: ChaosFate) { state.withLock { $0.counts.add(fate) } }

    /// Delays a request, or suspends it forever if there is no duration.
    private func wait(_ latency: Duration?, with request: DataRequest) async throws(FetchError) {
        let deadline = Deadline.current
        guard !Task.isCancelled else { throw abandoned(request, .cancelled, "was cancelled") }
        guard deadline?.hasPassed != true else { throw abandoned(request, .timedOut, "had no time left") }
        guard latency != .zero else { return }
        let promise = Promise<Void>()
        let alarm = latency.map { timer.schedule(at: timer.now + $0) { promise.fulfill(()) } }
        defer { if let alarm { timer.cancel(alarm) } }
        switch await promise.value(until: deadline) {
        case .fulfilled: return
        case .cancelled: throw abandoned(request, .cancelled, "was cancelled")
        case .deadlinePassed: throw abandoned(request, .timedOut, "was not answered by the deadline")
        }
    }

    private func abandoned(_ request: DataRequest, _ reason: FetchError.Reason, _ explanation: String) -> FetchError {
        state.withLock { $0.counts.abandoned += 1 }
        return FetchError(reason, request: request, explanation: explanation)
    }

    private func fault(_ request: DataRequest, _ reason: FetchError.Reason, _ explanation: String) -> FetchError {
        FetchError(reason, request: request, explanation: "\(explanation), a fault injected with the seed \(seed)")
    }

    private func refusal(_ status: DataResponse.Status) -> DataResponse {
        var response = DataResponse(status: status)
        if let delay = plan.retryAfter?.components {
            let seconds = delay.attoseconds > 0 ? delay.seconds + 1 : delay.seconds
            response.headerFields[.retryAfter] = "\(seconds)"
        }
        return response
    }

    private func send(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        state.withLock { $0.counts.sent += 1 }
        return try await base.fetch(request)
    }
}

/// The shares of requests that get a fault from a ``ChaosDataFetcher``, and the delays that it adds.
///
/// ```swift
/// let plan = ChaosPlan(
///     [.unreachable: 0.02, .interrupted: 0.01, .unavailable: 0.05],
///     latency: .milliseconds(5) ... .milliseconds(50),
///     slowShare: 0.01
/// )
/// ```
public struct ChaosPlan: Hashable, Sendable {
    /// The share of requests with each fault, from 0 to 1. The sum is at most 1.
    public let shares: [ChaosFault: Double]
    /// The delay before a request fails or reaches the base, uniformly distributed.
    public let latency: ClosedRange<Duration>
    /// The share of slow requests, from 0 to 1, independent of faults.
    public let slowShare: Double
    /// The factor by which slow requests take longer, from 1 to 1,000,000.
    public let slowFactor: Int
    /// The `Retry-After` value of 503 and 429 responses, in whole seconds, or `nil` to leave it out.
    public let retryAfter: Duration?

    /// A plan without faults or delays.
    public static let calm = Self([:])

    /// Creates a plan. Values out of range are clamped.
    ///
    /// - Parameters:
    ///   - shares: The share of requests with each fault, from 0 to 1: 0.02 means 2%. If the sum exceeds 1, every request has a
    ///     fault, in these proportions.
    ///   - latency: The delay of a request, at least zero.
    ///   - slowShare: The share of slow requests, from 0 to 1.
    ///   - slowFactor: The factor by which slow requests take longer, at least 1.
    ///   - retryAfter: The `Retry-After` value of 503 and 429 responses, rounded up to whole seconds, or `nil` to leave it out.
    public init(
        _ shares: [ChaosFault: Double],
        latency: ClosedRange<Duration> = .zero ... .zero,
        slowShare: Double = 0,
        slowFactor: Int = 100,
        retryAfter: Duration? = .seconds(1)
    ) {
        let shares = shares.mapValues(Self.share)
        // Added in a fixed order, because the order affects the last digit of the sum.
        let total = ChaosFault.allCases.reduce(0) { $0 + (shares[$1] ?? 0) }
        self.shares = shares.mapValues { $0 / max(1, total) }
        self.latency = max(.zero, latency.lowerBound)...max(.zero, latency.upperBound)
        self.slowShare = Self.share(slowShare)
        self.slowFactor = min(max(1, slowFactor), 1_000_000)
        self.retryAfter = retryAfter.map { max(.zero, $0) }
    }

    /// Clamps a share to the range from 0 to 1. NaN counts as zero.
    private static func share(_ number: Double) -> Double { number > 0 ? min(number, 1) : 0 }
}

extension ChaosPlan: CustomStringConvertible {
    /// The faults and delays, such as `unreachable 2.0%, latency 0.005 seconds to 0.05 seconds`.
    public var description: String {
        var parts = ChaosFault.allCases.compactMap { fault in
            shares[fault].flatMap { $0 > 0 ? "\(fault) \($0 * 100)%" : nil }
        }
        if latency.upperBound > .zero { parts.append("latency \(latency.lowerBound) to \(latency.upperBound)") }
        if slowShare > 0 { parts.append("\(slowShare * 100)% take \(slowFactor) times as long") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}

/// A fault that a ``ChaosDataFetcher`` injects into a request.
///
/// ```swift
/// @Test(arguments: [ChaosFault.unreachable, .interrupted, .timedOut])
/// func lostAnswerIsAnError(fault: ChaosFault) async {
///     let upstream = ChaosDataFetcher(StubDataFetcher(DataResponse()), plan: ChaosPlan([fault: 1]))
///     let client = CommentClient(dataFetcher: upstream)
///     await #expect(throws: FetchError.self) { try await client.comment(7) }
/// }
/// ```
public enum ChaosFault: String, CaseIterable, Hashable, Sendable {
    /// The request fails as unreachable and is not sent.
    case unreachable
    /// The request is sent, but the response is lost: the request fails as interrupted.
    case interrupted
    /// The request is sent, but the response is lost: the request fails as timed out, without waiting.
    case timedOut
    /// The response is 500 Internal Server Error. The request is not sent.
    case failed
    /// The response is 503 Service Unavailable with `Retry-After`. The request is not sent.
    case unavailable
    /// The response is 429 Too Many Requests with `Retry-After`. The request is not sent.
    case tooManyRequests
    /// The request is neither sent nor answered. It ends when the task is cancelled or its deadline passes.
    case unanswered
    /// The request is sent, and the response body ends early without an error, as if it were truncated at its source.
    case truncated
    /// The request is sent, and some bytes of the response body are changed.
    case garbled
}

/// The fate of one request.
struct ChaosFate: Hashable {
    let fault: ChaosFault?
    let latency: Duration
    let isSlow: Bool
    /// The seed for truncating or changing the body.
    let bodySeed: UInt64

    /// Draws a fate. It always draws the same number of random values, so that changing one part of a plan does not affect the
    /// others.
    init(_ plan: ChaosPlan, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let faultNumber = Self.fraction(random.next())
        let latencyNumber = Self.fraction(random.next())
        isSlow = Self.fraction(random.next()) < plan.slowShare
        bodySeed = random.next()
        var end = 0.0
        fault = ChaosFault.allCases.first { fault in
            end += plan.shares[fault] ?? 0
            return faultNumber < end
        }
        let spread = plan.latency.upperBound - plan.latency.lowerBound
        let latency = plan.latency.lowerBound + spread * latencyNumber
        self.latency = isSlow ? latency * plan.slowFactor : latency
    }

    /// Truncates bytes by at least one.
    func truncate(_ bytes: inout some RangeReplaceableCollection<UInt8>) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        bytes = .init(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    }

    /// Changes one byte in every 64, and at least one.
    func garble(_ bytes: inout some RandomAccessCollection<UInt8> & MutableCollection) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        let length = 64
        for start in stride(from: 0, to: bytes.count, by: length) {
            let offset = Int.random(in: start..<min(start + length, bytes.count), using: &random)
            bytes[bytes.index(bytes.startIndex, offsetBy: offset)] ^= UInt8.random(in: 1 ... .max, using: &random)
        }
    }

    /// Returns a number from 0 up to but not including 1.
    private static func fraction(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
}

/// The counts of a ``ChaosDataFetcher``.
///
/// ```swift
/// let chaos = ChaosDataFetcher(StubDataFetcher(DataResponse()), plan: ChaosPlan([.unavailable: 1]), seed: 7)
/// _ = try await chaos.fetch(DataRequest(url: CommentClient.baseURL))
/// #expect(chaos.counts[.unavailable] == 1)
/// #expect(chaos.counts.sent == 0)
/// ```
public struct ChaosCounts: Hashable, Sendable {
    /// The number of requests received.
    public internal(set) var requests = 0
    /// The number of requests passed to the base.
    public internal(set) var sent = 0
    /// The number of slow requests whose delay has passed.
    public internal(set) var slow = 0
    /// The number of requests that were cancelled or timed out before they met their fate. Requests that are never answered end
    /// this way.
    public internal(set) var abandoned = 0
    private var faults: [ChaosFault: Int] = [:]

    /// Returns the number of requests with a fault. Each is counted when the fault takes effect.
    public subscript(fault: ChaosFault) -> Int { faults[fault] ?? 0 }

    /// The number of requests with any fault.
    public var faulty: Int { faults.values.reduce(0, +) }

    mutating func add(_ fate: ChaosFate) {
        if let fault = fate.fault { faults[fault, default: 0] += 1 }
        if fate.isSlow { slow += 1 }
    }
}
