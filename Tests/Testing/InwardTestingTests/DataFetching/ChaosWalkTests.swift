import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

/// Many concurrent clients use a pipeline over an upstream with all faults.
@Suite(.timeLimit(.minutes(5)))
struct ChaosWalkTests {
    private static let limit = Duration.seconds(2)
    private static let plan = ChaosPlan(
        Dictionary(uniqueKeysWithValues: ChaosFault.allCases.map { ($0, 0.04) }),
        latency: .milliseconds(10) ... .milliseconds(200),
        slowShare: 0.05
    )

    /// The outcome of a fetch.
    private struct Outcome: Hashable {
        let client: Int
        let result: Result<DataResponse, FetchError>
        let duration: Duration
        let wasCancelled: Bool
    }

    /// The results of a walk.
    private struct Record {
        let outcomes: [Outcome]
        let trace: SchedulerTrace
        let counts: ChaosCounts
        let events: [RecordingFetchObserver.Event]
    }

    private func walk(seed: UInt64) async throws -> Record {
        let scheduler = DeterministicScheduler(seed: seed)
        let recorder = RecordingFetchObserver()
        let base = HonoringDataFetcher(timer: scheduler.timer, latency: .milliseconds(20)) { request in
            let isAuthorized = request.headerFields[.authorization] == "Bearer t0ken"
            return DataResponse(
                status: isAuthorized ? .ok : 401,
                headerFields: [HeaderField(.cacheControl, "max-age=1")],
                body: Data(request.url.path().utf8)
            )
        }
        let chaos = ChaosDataFetcher(base, plan: Self.plan, seed: seed, timer: scheduler.timer)
        let cache = ResponseCache(byteLimit: 100_000, clock: scheduler.clock, executor: scheduler.executor) {
            // The same date in each walk, which responses contain.
            Date(timeIntervalSince1970: 784_111_777)
        }
        let address = try #require(URL(string: "https://upstream.test/"))
        let fetcher = chaos.timingOut(after: Self.limit, timer: scheduler.timer)
            .authorizing(with: .bearer("t0ken"), for: address).caching(in: cache.makePartition())
            // A caller may wait for the request of another one, and then send its own.
            .timingOut(after: Self.limit, timer: scheduler.timer)
            .observing(with: recorder, timer: scheduler.timer)
        let outcomes = try await scheduler.run {
            await withTaskGroup { group in
                for client in 0..<8 {
                    group.addTask {
                        let walker = Walker(number: client, seed: seed, address: address, timer: scheduler.timer)
                        return await walker.outcomes(of: fetcher)
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
        }
        #expect(scheduler.timer.count == 0, "The seed was \(seed).")
        try await scheduler.drain()
        #expect(scheduler.clock.sleeperCount == 0, "The seed was \(seed).")
        return Record(outcomes: outcomes, trace: scheduler.trace, counts: chaos.counts, events: recorder.events)
    }

    /// A client that makes requests, pauses, and sometimes cancels.
    private struct Walker {
        let number: Int
        let seed: UInt64
        let address: URL
        let timer: TimerService

        func outcomes(of fetcher: some DataFetcher) async -> [Outcome] {
            var random = SplitMix64(seed: seed &+ UInt64(number))
            var outcomes: [Outcome] = []
            for _ in 0..<10 {
                let request = DataRequest(url: address.appending(path: "\(Int.random(in: 0..<4, using: &random))"))
                let patience =
                    Int.random(in: 0..<10, using: &random) == 0 ? Int.random(in: 0..<300, using: &random) : nil
                outcomes.append(await outcome(of: request, by: fetcher, patience: patience.map { .milliseconds($0) }))
                try? await timer.sleep(for: .milliseconds(Int.random(in: 0..<500, using: &random)))
            }
            return outcomes
        }

        private func outcome(of request: DataRequest, by fetcher: some DataFetcher, patience: Duration?) async
            -> Outcome
        {
            await withTaskGroup { group in
                group.addTask {
                    let start = timer.now
                    let result = await Result { () async throws(FetchError) in try await fetcher.fetch(request) }
                    return Outcome?.some(
                        Outcome(
                            client: number,
                            result: result,
                            duration: timer.now - start,
                            wasCancelled: Task.isCancelled
                        )
                    )
                }
                if let patience {
                    group.addTask {
                        try? await timer.sleep(for: patience)
                        return nil
                    }
                }
                var outcomes: [Outcome] = []
                for await outcome in group {
                    if let outcome { outcomes.append(outcome) }
                    group.cancelAll()
                }
                return outcomes[0]
            }
        }
    }

    @Test func everyRequestIsAnsweredOnceAndInTime() async throws {
        let first = UInt64.random(in: 0 ... .max)
        var met: Set<ChaosFault> = []
        var reasons: Set<FetchError.Reason> = []
        for seed in (0..<50).map({ first &+ $0 }) {
            let record = try await walk(seed: seed)
            met.formUnion(ChaosFault.allCases.filter { record.counts[$0] > 0 })
            var ended = 0
            var attempts = 0
            var hits = 0
            var joins = 0
            for event in record.events {
                switch event {
                case .requestEnded: ended += 1
                case .attemptEnded: attempts += 1
                case .answeredFromCache: hits += 1
                case .joined: joins += 1
                default: break
                }
            }
            #expect(record.outcomes.count == 80, "The seed was \(seed).")
            #expect(ended == 80, "The seed was \(seed).")
            #expect(hits > 0, "The seed was \(seed).")
            #expect(joins > 0, "The seed was \(seed).")
            #expect(hits + attempts <= 80, "The seed was \(seed).")
            // A request that was cancelled before it was sent leaves no trace.
            let cancelled = record.outcomes.count(where: \.wasCancelled)
            #expect(hits + joins + attempts >= 80 - cancelled, "The seed was \(seed).")
            #expect(attempts == record.counts.requests, "The seed was \(seed).")
            for outcome in record.outcomes {
                #expect(outcome.duration <= Self.limit, "The seed was \(seed).")
                switch outcome.result {
                case .success(let response): #expect(response.status != 401, "The seed was \(seed).")
                case .failure(let error):
                    reasons.insert(error.reason)
                    #expect(outcome.wasCancelled || error.reason != .cancelled, "The seed was \(seed).")
                    // Another caller's request can be late earlier.
                    let isLate = error.explanation == "was not answered within \(Self.limit)"
                    #expect(isLate || outcome.duration < Self.limit, "The seed was \(seed): \(outcome)")
                }
            }
        }
        #expect(met == Set(ChaosFault.allCases), "The seeds began with \(first).")
        #expect(reasons == [.cancelled, .interrupted, .timedOut, .unreachable], "The seeds began with \(first).")
    }

    @Test func seedReproducesTheWalk() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let first = try await walk(seed: seed)
        let second = try await walk(seed: seed)
        #expect(first.trace == second.trace, "The seed was \(seed).")
        #expect(first.outcomes == second.outcomes, "The seed was \(seed).")
        #expect(first.events == second.events, "The seed was \(seed).")
        #expect(first.counts == second.counts, "The seed was \(seed).")
        #expect(try await walk(seed: seed &+ 1).trace != first.trace, "The seed was \(seed).")
    }
}
