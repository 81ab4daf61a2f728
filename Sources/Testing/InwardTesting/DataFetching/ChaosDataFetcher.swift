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
        let alarm = latency.map { timer.schedule(at: timer.now + $0) { promise.keep(()) } }
        defer { if let alarm { timer.cancel(alarm) } }
        switch await promise.value(until: deadline) {
        case .kept: return
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
