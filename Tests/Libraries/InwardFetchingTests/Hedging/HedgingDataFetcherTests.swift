import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct HedgingDataFetcherTests {
    /// An observer that records hedged requests.
    private final class Hedges: FetchObserver {
        private let recorded = Mutex<[DataRequest]>([])
        var requests: [DataRequest] { recorded.withLock(\.self) }
        func hedged(_ request: DataRequest) { recorded.withLock { $0.append(request) } }
    }

    /// A fetcher with a prescribed first and second attempt.
    private final class Source: DataFetcher {
        typealias Attempt = @Sendable (DataRequest) async throws(FetchError) -> DataResponse

        private let attempts: [Attempt]
        private struct Record {
            var begun: [Int] = []
            var ended: [Int] = []
            var cancelled: [Int] = []
        }

        private let recorded = Mutex(Record())

        init(first: @escaping Attempt, second: @escaping Attempt) {
            attempts = [first, second]
        }

        /// The attempts that began, that ended, and that were cancelled at their end, in order.
        var begun: [Int] { recorded.withLock(\.begun) }
        var ended: [Int] { recorded.withLock(\.ended) }
        var cancelled: [Int] { recorded.withLock(\.cancelled) }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            recorded.withLock { $0.begun.append(request.attempt) }
            let result = await Result(awaiting: { () async throws(FetchError) in
                try await attempts[request.attempt - 1](request)
            })
            let isCancelled = Task.isCancelled
            recorded.withLock { recorded in
                recorded.ended.append(request.attempt)
                if isCancelled { recorded.cancelled.append(request.attempt) }
            }
            return try result.get()
        }
    }

    private let clock = ManualClock()
    private let timer: TimerService
    private let hedges = Hedges()
    /// A rendezvous that no other task reaches, so only cancellation ends a wait there.
    private let nowhere = Rendezvous(of: 1_000)
    private let gate = Rendezvous(of: 2)

    init() {
        timer = TimerService(clock)
    }

    private func fetcher(
        _ source: any DataFetcher,
        after delay: HedgingDelay = .fixed(.seconds(1)),
        upTo share: Double = 1
    ) -> some DataFetcher {
        source.hedging(after: delay, upTo: share, timer: timer).observing(with: hedges, timer: timer)
    }

    private func answer(_ status: DataResponse.Status) -> Source.Attempt {
        { _ throws(FetchError) in DataResponse(status: status) }
    }

    private func failure(_ reason: FetchError.Reason) -> Source.Attempt {
        { request throws(FetchError) in throw FetchError(reason, request: request, explanation: "failed") }
    }

    /// Returns an attempt that waits for another task to arrive, or for its cancellation.
    private func waiting(at place: Rendezvous, then attempt: @escaping Source.Attempt) -> Source.Attempt {
        { request throws(FetchError) in
            await place.arrive()
            return try await attempt(request)
        }
    }

    private func ask(_ fetcher: some DataFetcher, method: DataRequest.Method = .get) throws -> Task<
        DataResponse, any Error
    > {
        let request = try DataRequest.example(method: method)
        return Task { try await fetcher.fetch(request) }
    }

    @Test(arguments: [DataRequest.Method.get, .head])
    func slowRequestsAreHedgedAndTheLoserIsCancelledAndAwaited(method: DataRequest.Method) async throws {
        let source = Source(first: waiting(at: nowhere, then: failure(.cancelled)), second: answer(201))
        let asked = try ask(fetcher(source), method: method)
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(try await asked.value.status == 201)
        #expect(source.begun == [1, 2])
        #expect(source.ended == [2, 1])
        #expect(source.cancelled == [1])
        #expect(hedges.requests.map(\.attempt) == [2])
        #expect(timer.count == 0)
    }

    @Test func firstAttemptWinsIfItSucceedsFirst() async throws {
        let second = waiting(at: nowhere, then: failure(.cancelled))
        let begun = Rendezvous(of: 2)
        let source = Source(first: waiting(at: gate, then: answer(200))) { request throws(FetchError) in
            await begun.arrive()
            return try await second(request)
        }
        let asked = try ask(fetcher(source))
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        await begun.arrive()
        await gate.arrive()
        #expect(try await asked.value.status == 200)
        #expect(source.ended == [1, 2])
        #expect(source.cancelled == [2])
    }

    @Test func fastRequestsAreSentOnce() async throws {
        let source = Source(first: waiting(at: gate, then: answer(200)), second: answer(201))
        let asked = try ask(fetcher(source))
        await timer.timers(1)
        clock.advance(by: .milliseconds(999))
        await gate.arrive()
        #expect(try await asked.value.status == 200)
        #expect(source.begun == [1])
        #expect(source.cancelled == [])
        #expect(timer.count == 0)
        #expect(hedges.requests.isEmpty)
    }

    @Test func immediateResponsesNeedNoTimer() async throws {
        let source = Source(first: answer(200), second: answer(201))
        #expect(try await fetcher(source).fetch(.example()).status == 200)
        #expect(source.begun == [1])
        #expect(timer.count == 0)
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) { #expect(clock.sleeperCount == 0) }
    }

    @Test func failureBeforeTheDelayIsTheOutcome() async throws {
        let source = Source(first: waiting(at: gate, then: failure(.unreachable)), second: answer(201))
        let asked = try ask(fetcher(source))
        await timer.timers(1)
        await gate.arrive()
        let error = await #expect(throws: FetchError.self) { try await asked.value }
        #expect(error?.reason == .unreachable)
        #expect(source.begun == [1])
    }

    /// Runs two attempts: one fails while both are in flight, and the other ends after it.
    private func outcome(firstFails: Bool, _ fails: @escaping Source.Attempt, _ ends: @escaping Source.Attempt)
        async throws
        -> Result<DataResponse, any Error>
    {
        let begun = Rendezvous(of: 2)
        let (first, second) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let hasEnded = Rendezvous(of: 2)
        let failing: Source.Attempt = { request throws(FetchError) in
            let result = await Result(awaiting: { () async throws(FetchError) in try await fails(request) })
            await hasEnded.arrive()
            return try result.get()
        }
        let source = Source(first: waiting(at: first, then: firstFails ? failing : ends)) {
            request throws(FetchError) in
            await begun.arrive()
            await second.arrive()
            return try await (firstFails ? ends : failing)(request)
        }
        let asked = try ask(fetcher(source))
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        await begun.arrive()
        await (firstFails ? first : second).arrive()
        await hasEnded.arrive()
        await (firstFails ? second : first).arrive()
        let result = await asked.result
        #expect(source.begun == [1, 2])
        #expect(source.ended.count == 2)
        return result
    }

    @Test(arguments: [true, false])
    func otherAttemptIsTheOutcomeIfOneFails(firstFails: Bool) async throws {
        #expect(try await outcome(firstFails: firstFails, failure(.unreachable), answer(200)).get().status == 200)
        #expect(try await outcome(firstFails: firstFails, answer(503), answer(404)).get().status == 404)
    }

    @Test(arguments: [true, false])
    func failureOfTheFirstAttemptIsTheOutcomeIfBothFail(firstFails: Bool) async throws {
        let status = try await outcome(
            firstFails: firstFails,
            answer(firstFails ? 503 : 500),
            answer(firstFails ? 500 : 503)
        )
        .get().status
        #expect(status == 503)
        let errors = await #expect(throws: FetchError.self) {
            try await outcome(
                firstFails: firstFails,
                failure(firstFails ? .unreachable : .interrupted),
                failure(firstFails ? .interrupted : .unreachable)
            ).get()
        }
        #expect(errors?.reason == .unreachable)
    }

    @Test(arguments: [DataRequest.Method.post, .put, .patch, .delete, .options])
    func unsafeMethodsAreSentOnce(method: DataRequest.Method) async throws {
        let source = Source(first: waiting(at: gate, then: answer(200)), second: answer(201))
        let asked = try ask(fetcher(source, after: .fixed(.zero)), method: method)
        await gate.arrive()
        #expect(try await asked.value.status == 200)
        #expect(source.begun == [1])
        #expect(clock.sleeperCount == 0)
    }

    @Test func secondAttemptsStayWithinTheShare() async throws {
        let source = Source(first: waiting(at: nowhere, then: failure(.cancelled)), second: answer(201))
        let quick = Source(first: answer(200), second: answer(201))
        let hedging = StubDataFetcher { request throws(FetchError) in
            try await (request.url.path == "/slow" ? source : quick).fetch(request)
        }
        let fetcher = fetcher(hedging, upTo: 0.25)
        let slow = try DataRequest.example("http://upstream.test/slow")
        // Every fourth request can be hedged.
        for round in 1...5 {
            for _ in 0..<3 { _ = try await fetcher.fetch(.example()) }
            let asked = Task { try await fetcher.fetch(slow) }
            await timer.timers(1)
            clock.advance(by: .seconds(1))
            #expect(try await asked.value.status == 201)
            #expect(hedges.requests.count == round)
        }
        let begun = Rendezvous(of: 2)
        let next = Task {
            await begun.arrive()
            return try await fetcher.fetch(slow)
        }
        await begun.arrive()
        clock.advance(by: .seconds(10))
        next.cancel()
        await #expect(throws: FetchError.self) { try await next.value }
        #expect(hedges.requests.count == 5)
    }

    /// Two requests are late at the same time, but there is a token for only one second attempt.
    @Test func lateRequestsWithoutATokenAreNotHedged() async throws {
        let released = Rendezvous(of: 3)
        let slow = Source(first: waiting(at: released, then: answer(200)), second: answer(201))
        let quick = Source(first: answer(204), second: answer(204))
        let hedging = StubDataFetcher { request throws(FetchError) in
            try await (request.url.path == "/slow" ? slow : quick).fetch(request)
        }
        let fetcher = fetcher(hedging, upTo: 0.25)
        for _ in 0..<4 { _ = try await fetcher.fetch(.example()) }
        let request = try DataRequest.example("http://upstream.test/slow")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await fetcher.fetch(request).status.code } }
            await timer.timers(2)
            clock.advance(by: .seconds(1))
            let first = try await group.next()
            await released.arrive()
            return [first, try await group.next()]
        }
        #expect(statuses == [201, 200])
        #expect(hedges.requests.count == 1)
    }

    @Test func cancelledRequestsAreNotHedged() async throws {
        let source = Source(first: waiting(at: nowhere, then: failure(.cancelled)), second: answer(201))
        let asked = try ask(fetcher(source))
        await timer.timers(1)
        asked.cancel()
        let error = await #expect(throws: FetchError.self) { try await asked.value }
        #expect(error?.reason == .cancelled)
        #expect(source.begun == [1])
        #expect(timer.count == 0)
    }

    @Test func noSecondAttemptBeginsAfterTheDeadline() async throws {
        let source = Source(first: waiting(at: nowhere, then: failure(.cancelled)), second: answer(201))
        let asked = try ask(fetcher(source).timingOut(after: .seconds(1), timer: timer))
        await timer.timers(1)
        #expect(timer.count == 1)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: FetchError.self) { try await asked.value }
        #expect(error?.reason == .timedOut)
        #expect(source.begun == [1])
        #expect(hedges.requests.isEmpty)
    }

    @Test func bothAttemptsSeeTheDeadline() async throws {
        let remaining = Mutex<[Duration?]>([])
        let attempt: Source.Attempt = { request throws(FetchError) in
            remaining.withLock { $0.append(Deadline.current?.remaining) }
            if request.attempt == 1 { await nowhere.arrive() }
            return DataResponse()
        }
        let source = Source(first: attempt, second: attempt)
        let asked = try ask(fetcher(source).timingOut(after: .seconds(5), timer: timer))
        await timer.timers(2)
        clock.advance(by: .seconds(1))
        #expect(try await asked.value.status == .ok)
        #expect(remaining.withLock { $0 } == [.seconds(5), .seconds(4)])
    }

    // The delay is learned even if there is no token for a second attempt.
    @Test(arguments: [1, 0.1])
    func delayIsLearnedFromSuccesses(share: Double) async throws {
        let begun = Rendezvous(of: 2)
        let source = StubDataFetcher { [clock, nowhere] request throws(FetchError) in
            if request.attempt == 2 { await begun.arrive() }
            switch (request.url.path, request.attempt) {
            case ("/slow", 1): await nowhere.arrive()
            case ("/failing", _):
                clock.advance(by: .seconds(60))
                return DataResponse(status: 500)
            default: clock.advance(by: .milliseconds(10))
            }
            return DataResponse()
        }
        let fetcher = fetcher(source, after: .percentile(90, atFirst: .seconds(600), ofLast: 10), upTo: share)
        for _ in 0..<5 { _ = try await fetcher.fetch(.example("http://upstream.test/failing")) }
        for _ in 0..<5 { _ = try await fetcher.fetch(.example()) }
        let slow = try DataRequest.example("http://upstream.test/slow")
        let asked = Task { try await fetcher.fetch(slow) }
        await timer.timers(1)
        clock.advance(by: .milliseconds(10))
        await begun.arrive()
        asked.cancel()
        #expect(try await asked.value.status == .ok)
        #expect(hedges.requests.count == 1)
    }

    @Test func layerDescriptionNamesTheDelay() {
        let source = StubDataFetcher(DataResponse())
        #expect(
            source.hedging(after: .fixed(.seconds(2))).layer
                == DataFetcherLayer(.hedging, "hedges after 2.0 seconds")
        )
        let learned = source.hedging(after: .percentile(95, atFirst: .seconds(1)))
        #expect(learned.layer.description == "hedges after percentile 95 of recent durations")
    }
}
