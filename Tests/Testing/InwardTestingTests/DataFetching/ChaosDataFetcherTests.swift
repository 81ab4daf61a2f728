import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ChaosDataFetcherTests {
    private static let body = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0) })
    /// A plan with all faults.
    private static let mixed = ChaosPlan(
        Dictionary(uniqueKeysWithValues: ChaosFault.allCases.map { ($0, 0.08) }),
        latency: .milliseconds(10) ... .milliseconds(20),
        slowShare: 0.1
    )

    private let scheduler = DeterministicScheduler(seed: 7)

    private func chaos(_ plan: ChaosPlan, seed: UInt64 = 3) -> (chaos: ChaosDataFetcher, base: RecordingDataFetcher) {
        let base = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Self.body)))
        return (ChaosDataFetcher(base, plan: plan, seed: seed, timer: scheduler.timer), base)
    }

    private func request(_ path: String = "") throws -> DataRequest {
        DataRequest(url: try #require(URL(string: "http://upstream.test/\(path)")))
    }

    /// Returns the result of a request with a fault, and whether it was sent.
    private func outcome(of fault: ChaosFault, retryAfter: Duration? = .seconds(1)) async throws -> (
        result: Result<DataResponse, FetchError>, isSent: Bool
    ) {
        let (chaos, base) = chaos(ChaosPlan([fault: 1], retryAfter: retryAfter))
        let request = try request()
        let result = try await scheduler.run {
            await Result { () async throws(FetchError) in try await chaos.fetch(request) }
        }
        #expect(chaos.counts[fault] == 1)
        #expect(chaos.counts.faulty == 1)
        #expect(chaos.counts.requests == 1)
        #expect(chaos.counts.sent == base.requests.count)
        return (result, !base.requests.isEmpty)
    }

    @Test(arguments: [
        (ChaosFault.unreachable, FetchError.Reason.unreachable, false), (.interrupted, .interrupted, true),
        (.timedOut, .timedOut, true),
    ])
    func faultHappensBeforeOrAfterSending(fault: ChaosFault, reason: FetchError.Reason, isSent: Bool)
        async throws
    {
        let outcome = try await outcome(of: fault)
        guard case .failure(let error) = outcome.result else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.reason == reason)
        #expect(error.explanation.hasSuffix(", a fault injected with the seed 3"))
        #expect(outcome.isSent == isSent)
    }

    @Test(arguments: [
        (ChaosFault.failed, 500, Duration?.some(.seconds(1)), String?.none), (.unavailable, 503, .seconds(2), "2"),
        (.unavailable, 503, .milliseconds(1_001), "2"), (.tooManyRequests, 429, .zero, "0"),
        (.tooManyRequests, 429, nil, nil),
    ])
    func statusFaultIsAnsweredWithoutSending(fault: ChaosFault, status: Int, retryAfter: Duration?, field: String?)
        async throws
    {
        let outcome = try await outcome(of: fault, retryAfter: retryAfter)
        let response = try outcome.result.get()
        #expect(response.status.code == status)
        #expect(response.headerFields[.retryAfter] == field)
        #expect(!outcome.isSent)
    }

    @Test func truncatedBodyIsAPrefix() async throws {
        let response = try await outcome(of: .truncated).result.get()
        #expect(response.body.count < Self.body.count)
        #expect(Self.body.starts(with: response.body))
    }

    @Test(arguments: UInt64(0)..<20) func truncatedBodyLosesAtLeastOneByte(seed: UInt64) async throws {
        let base = StubDataFetcher(DataResponse(body: Data([7])))
        let chaos = ChaosDataFetcher(base, plan: ChaosPlan([.truncated: 1]), seed: seed)
        #expect(try await chaos.fetch(request()).body.isEmpty)
    }

    @Test func garbledBodyHasTheSameLength() async throws {
        let response = try await outcome(of: .garbled).result.get()
        #expect(response.body.count == Self.body.count)
        #expect(zip(response.body, Self.body).filter { $0 != $1 }.count == 16)
    }

    @Test(arguments: [ChaosFault.truncated, .garbled])
    func emptyBodyStaysEmpty(fault: ChaosFault) async throws {
        let chaos = ChaosDataFetcher(StubDataFetcher(DataResponse()), plan: ChaosPlan([fault: 1]))
        #expect(try await chaos.fetch(request()).body.isEmpty)
    }

    @Test func latencyIsWithinItsBoundsAndSomeRequestsAreSlow() async throws {
        let (chaos, _) = chaos(ChaosPlan([:], latency: .seconds(1) ... .seconds(2), slowShare: 0.1))
        let request = try request()
        let times = try await scheduler.run {
            var times: [Duration] = []
            for _ in 0..<1_000 {
                let start = scheduler.timer.now
                _ = try await chaos.fetch(request)
                times.append(scheduler.timer.now - start)
            }
            return times
        }
        let usual = times.filter { (.seconds(1) ... .seconds(2)).contains($0) }
        let slow = times.filter { (.seconds(100) ... .seconds(200)).contains($0) }
        #expect(usual.count + slow.count == 1_000)
        #expect((60...140).contains(slow.count))
        #expect(chaos.counts.slow == slow.count)
        #expect(usual.filter { $0 < .seconds(1.5) }.count > usual.count / 3)
        #expect(usual.filter { $0 > .seconds(1.5) }.count > usual.count / 3)
    }

    @Test func sharesAreRespected() async throws {
        let (chaos, base) = chaos(ChaosPlan([.failed: 0.5, .unreachable: 0.25]))
        for _ in 0..<2_000 { _ = try? await chaos.fetch(request()) }
        #expect((900...1_100).contains(chaos.counts[.failed]))
        #expect((400...600).contains(chaos.counts[.unreachable]))
        #expect(chaos.counts.sent == 2_000 - chaos.counts.faulty)
        #expect(base.requests.count == chaos.counts.sent)
    }

    /// Returns the results of 100 concurrent requests, sorted by request number. `order` is the seed of their interleaving.
    private func fates(seed: UInt64, order: UInt64) async throws -> [Result<DataResponse, FetchError>] {
        let scheduler = DeterministicScheduler(seed: order)
        let base = StubDataFetcher(DataResponse(body: Self.body))
        let chaos = ChaosDataFetcher(base, plan: Self.mixed, seed: seed, timer: scheduler.timer)
        let request = try request()
        return try await scheduler.run {
            let results = Mutex<[Int: Result<DataResponse, FetchError>]>([:])
            await withTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { @Sendable in
                        // The task does not suspend before the fetcher counts the request, so this is the request's number.
                        let number = chaos.counts.requests
                        let result = await Result { () async throws(FetchError) in try await chaos.fetch(request) }
                        results.withLock { $0[number] = result }
                    }
                }
                try? await scheduler.timer.sleep(for: .seconds(60))
                group.cancelAll()
            }
            return results.withLock { results in results.sorted { $0.key < $1.key }.map(\.value) }
        }
    }

    @Test func fateFollowsFromTheSeedAndTheRequestNumber() async throws {
        let first = try await fates(seed: 3, order: 1)
        #expect(first.count == 100)
        #expect(try await fates(seed: 3, order: 2) == first)
        #expect(try await fates(seed: 4, order: 1) != first)
    }

    @Test func unansweredRequestEndsAtCancellationOrDeadline() async throws {
        let (chaos, base) = chaos(ChaosPlan([.unanswered: 1]))
        let request = try request()
        let reasons = try await scheduler.run {
            await withTaskGroup { group in
                group.addTask { await reason(chaos, request) }
                try? await scheduler.timer.sleep(for: .seconds(3_600))
                group.cancelAll()
                let bound = await Deadline(in: .seconds(10), on: scheduler.timer).carried {
                    await reason(chaos, request)
                }
                #expect(scheduler.timer.now == .seconds(3_610))
                return [await group.next(), bound.get()]
            }
        }
        #expect(reasons == [.cancelled, .timedOut])
        #expect(base.requests.isEmpty)
        #expect(chaos.counts[.unanswered] == 2)
        #expect(chaos.counts.abandoned == 2)
        #expect(scheduler.timer.count == 0)
    }

    @Test func latencyEndsAtCancellationOrDeadline() async throws {
        let (chaos, base) = chaos(ChaosPlan([.failed: 1], latency: .seconds(10) ... .seconds(10)))
        let request = try request()
        let reasons = try await scheduler.run {
            await withTaskGroup { group in
                group.addTask { await reason(chaos, request) }
                try? await scheduler.timer.sleep(for: .seconds(1))
                group.cancelAll()
                let cancelled = await group.next()
                #expect(scheduler.timer.now == .seconds(1))
                let late = await Deadline(in: .seconds(9), on: scheduler.timer).carried { await reason(chaos, request) }
                #expect(scheduler.timer.now == .seconds(10))
                let passed = await Deadline(in: .zero, on: scheduler.timer).carried { await reason(chaos, request) }
                return [cancelled, late.get(), passed.get()]
            }
        }
        #expect(reasons == [.cancelled, .timedOut, .timedOut])
        #expect(base.requests.isEmpty)
        #expect(chaos.counts.faulty == 0)
        #expect(chaos.counts.abandoned == 3)
        #expect(scheduler.timer.count == 0)
    }

    @Test func requestsAreNotSentAfterCancellationOrDeadline() async throws {
        let (chaos, base) = chaos(.calm)
        let request = try request()
        let reasons = try await scheduler.run {
            await withTaskGroup(of: FetchError.Reason?.self) { group in
                group.cancelAll()
                group.addTask { await reason(chaos, request) }
                let passed = await Deadline(in: .zero, on: scheduler.timer).carried { await reason(chaos, request) }
                return [await group.next() ?? nil, passed.get()]
            }
        }
        #expect(reasons == [.cancelled, .timedOut])
        #expect(base.requests.isEmpty)
        #expect(chaos.counts.abandoned == 2)
    }

    private func reason(_ fetcher: any DataFetcher, _ request: DataRequest) async -> FetchError.Reason? {
        do throws(FetchError) {
            _ = try await fetcher.fetch(request)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func deadlinesAreHonoredIfTheBaseHonorsThem() {
        let (careless, _) = chaos(.calm)
        #expect(!careless.honorsDeadlines)
        let honoring = HonoringDataFetcher(timer: scheduler.timer) { _ in DataResponse() }
        #expect(ChaosDataFetcher(honoring, plan: .calm).honorsDeadlines)
    }

    @Test func descriptionNamesTheSeedAndThePlan() {
        #expect(chaos(ChaosPlan([.failed: 0.5])).chaos.description == "chaos with the seed 3: failed 50.0%")
    }
}
