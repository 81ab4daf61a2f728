public import InwardCore
public import InwardFetching
import Synchronization

/// A data fetcher that is as bad as a plan says, always in the same way: what becomes of the n-th request follows from a seed,
/// whatever is asked and however requests overlap.
///
/// It stands for an upstream, and so is the end of a pipeline: what it refuses is an attempt. With the ``DeterministicScheduler``
/// a whole run follows from the seed.
public final class ChaosDataFetcher: DataFetcher, CustomStringConvertible {
    private struct State {
        var seeds: SplitMix64
        var counts = ChaosCounts()
    }

    private let state: Mutex<State>
    private let base: any DataFetcher
    private let plan: ChaosPlan
    private let timer: TimerService

    /// What the fates of requests follow from.
    public let seed: UInt64

    /// Makes a fetcher.
    ///
    /// - Parameters:
    ///   - base: What answers.
    ///   - plan: How often what is done to requests.
    ///   - seed: What follows which. Print it where a test fails.
    ///   - timer: What requests are kept waiting by.
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

    /// What was done so far.
    public var counts: ChaosCounts { state.withLock(\.counts) }

    /// The seed and the plan.
    public var description: String { "chaos with the seed \(seed): \(plan)" }

    /// Whether the base does. What requests are kept waiting for ends with the deadline.
    public var honorsDeadlines: Bool { base.honorsDeadlines }

    /// The base's answer, or what the plan has in its place.
    ///
    /// - Throws: a `FetchError` that the plan has, one if the task is cancelled or out of time, or what the base throws.
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

    /// Keeps a request waiting for so long, or for ever.
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
        FetchError(reason, request: request, explanation: "\(explanation), as chaos with the seed \(seed) has it")
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

/// How often a ``ChaosDataFetcher`` does what to requests, and how long it takes.
///
///     ChaosPlan(
///         [.unreachable: 0.02, .interrupted: 0.01, .unavailable: 0.05],
///         latency: .milliseconds(5) ... .milliseconds(50),
///         slowShare: 0.01
///     )
public struct ChaosPlan: Hashable, Sendable {
    /// The share of requests that meet each fault, from 0 to 1, and all together no more than 1.
    public let shares: [ChaosFault: Double]
    /// How long a request takes, its fault or its way to the base: anything between, each as likely as the others.
    public let latency: ClosedRange<Duration>
    /// The share of requests that take longer, from 0 to 1, whatever else they meet.
    public let slowShare: Double
    /// How many times as long those take, from 1 to 1,000,000.
    public let slowFactor: Int
    /// When to ask again, as 503 and 429 say it, in whole seconds; `nil` if they say nothing.
    public let retryAfter: Duration?

    /// Nothing is done to anybody.
    public static let calm = Self([:])

    /// Makes a plan. What is out of its range counts as the nearest that is in it.
    ///
    /// - Parameters:
    ///   - shares: The share of requests that meet each fault, from 0 to 1: 0.02 are 2 %. If they are more than 1 together, all
    ///     requests meet one, in these proportions.
    ///   - latency: How long a request takes, from zero up.
    ///   - slowShare: The share of requests that take longer, from 0 to 1.
    ///   - slowFactor: How many times as long those take, at least 1.
    ///   - retryAfter: When to ask again, as 503 and 429 say it, rounded up to a second; `nil` if they say nothing.
    public init(
        _ shares: [ChaosFault: Double],
        latency: ClosedRange<Duration> = .zero ... .zero,
        slowShare: Double = 0,
        slowFactor: Int = 100,
        retryAfter: Duration? = .seconds(1)
    ) {
        let shares = shares.mapValues(Self.share)
        // In an order of its own, because sums of these differ in their last digit by it.
        let total = ChaosFault.allCases.reduce(0) { $0 + (shares[$1] ?? 0) }
        self.shares = shares.mapValues { $0 / max(1, total) }
        self.latency = max(.zero, latency.lowerBound)...max(.zero, latency.upperBound)
        self.slowShare = Self.share(slowShare)
        self.slowFactor = min(max(1, slowFactor), 1_000_000)
        self.retryAfter = retryAfter.map { max(.zero, $0) }
    }

    /// A number from 0 to 1. What is no number is none of the requests.
    private static func share(_ number: Double) -> Double { number > 0 ? min(number, 1) : 0 }
}

extension ChaosPlan: CustomStringConvertible {
    /// What is done to how many, such as `unreachable 2.0 %, latency 0.005 seconds to 0.05 seconds`.
    public var description: String {
        var parts = ChaosFault.allCases.compactMap { fault in
            shares[fault].flatMap { $0 > 0 ? "\(fault) \($0 * 100) %" : nil }
        }
        if latency.upperBound > .zero { parts.append("latency \(latency.lowerBound) to \(latency.upperBound)") }
        if slowShare > 0 { parts.append("\(slowShare * 100) % take \(slowFactor) times as long") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}

/// What a ``ChaosDataFetcher`` does to a request instead of answering it as it should.
public enum ChaosFault: String, CaseIterable, Hashable, Sendable {
    /// It fails as unreachable, and is not sent.
    case unreachable
    /// It is sent, and its answer is lost on the way back: it fails as interrupted.
    case interrupted
    /// It is sent, and its answer is lost: it fails as timed out, without a wait for it.
    case timedOut
    /// It is answered with 500 Internal Server Error, and not sent.
    case failed
    /// It is answered with 503 Service Unavailable and when to ask again, and not sent.
    case unavailable
    /// It is answered with 429 Too Many Requests and when to ask again, and not sent.
    case tooManyRequests
    /// It is not sent, and never answered: it ends when the task is cancelled or its deadline passes.
    case unanswered
    /// It is sent, and the answer's body ends early, as one that was already cut short at its source.
    case truncated
    /// It is sent, and some bytes of the answer's body are others.
    case garbled
}

/// What is done to one request.
struct ChaosFate: Hashable {
    let fault: ChaosFault?
    let latency: Duration
    let isSlow: Bool
    /// What the bytes that a body loses or has changed follow from.
    let bodySeed: UInt64

    /// Draws a fate, always by as many numbers, so that a change of the plan in one place changes nothing in another.
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

    /// Cuts bytes short, by one at least.
    func truncate(_ bytes: inout some RangeReplaceableCollection<UInt8>) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        bytes = .init(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    }

    /// Makes one byte of 64 another, and one at least.
    func garble(_ bytes: inout some RandomAccessCollection<UInt8> & MutableCollection) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        let length = 64
        for start in stride(from: 0, to: bytes.count, by: length) {
            let offset = Int.random(in: start..<min(start + length, bytes.count), using: &random)
            bytes[bytes.index(bytes.startIndex, offsetBy: offset)] ^= UInt8.random(in: 1 ... .max, using: &random)
        }
    }

    /// A number from 0 up to but not including 1.
    private static func fraction(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
}

/// What a ``ChaosDataFetcher`` did so far.
public struct ChaosCounts: Hashable, Sendable {
    /// How many requests came.
    public internal(set) var requests = 0
    /// How many of them were handed to the base.
    public internal(set) var sent = 0
    /// How many took longer than the others by plan, and were waited for.
    public internal(set) var slow = 0
    /// How many were cancelled or out of time before anything else became of them. Those that are never answered end so.
    public internal(set) var abandoned = 0
    private var faults: [ChaosFault: Int] = [:]

    /// How many met a fault, which is not counted before it is met.
    public subscript(fault: ChaosFault) -> Int { faults[fault] ?? 0 }

    /// How many met any fault.
    public var faulty: Int { faults.values.reduce(0, +) }

    mutating func add(_ fate: ChaosFate) {
        if let fault = fate.fault { faults[fault, default: 0] += 1 }
        if fate.isSlow { slow += 1 }
    }
}
