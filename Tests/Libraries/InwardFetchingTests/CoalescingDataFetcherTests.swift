import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CoalescingDataFetcherTests {
    private let isReleased = Promise<Void>()
    private let request: DataRequest

    init() throws {
        request = try .example()
    }

    /// A fetcher that answers when it is released, and records its requests.
    private var source: RecordingDataFetcher {
        RecordingDataFetcher(
            StubDataFetcher { [isReleased] request throws(FetchError) in
                guard case .fulfilled = await isReleased.value() else {
                    throw FetchError(.cancelled, request: request, explanation: "was cancelled")
                }
                return DataResponse(status: 203)
            }
        )
    }

    @Test(arguments: [DataRequest.Method.get, .head])
    func concurrentEqualRequestsAreCoalesced(method: DataRequest.Method) async throws {
        let source = source
        let joined = JoinObserver(of: 99) { isReleased.fulfill(()) }
        let fetcher = source.coalescing().observing(with: joined)
        let request = try DataRequest.example(method: method)
        let statuses = await withTaskGroup(of: DataResponse.Status?.self) { group in
            for _ in 0..<100 { group.addTask { try? await fetcher.fetch(request).status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 203, count: 100))
        #expect(source.requests == [request])
    }

    @Test func finishedRequestIsSentAgain() async throws {
        isReleased.fulfill(())
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = source.coalescing()
        _ = try await fetcher.fetch(request)
        _ = try await fetcher.fetch(request)
        #expect(source.requests.count == 2)
    }

    @Test(arguments: [DataRequest.Method.post, .put, .patch, .delete, .options])
    func unsafeRequestsAreNotCoalesced(method: DataRequest.Method) async throws {
        let both = Rendezvous(of: 2)
        let source = RecordingDataFetcher(
            StubDataFetcher { _ throws(FetchError) in
                await both.arrive()
                return DataResponse()
            }
        )
        let fetcher = source.coalescing()
        let request = try DataRequest.example(method: method)
        async let first = fetcher.fetch(request)
        async let second = fetcher.fetch(request)
        _ = try await (first, second)
        #expect(source.requests == [request, request])
    }

    @Test func requestsWithDifferentCredentialsAreNotCoalesced() async throws {
        let both = Rendezvous(of: 2)
        let fetcher = StubDataFetcher { request throws(FetchError) in
            await both.arrive()
            return DataResponse(
                headerFields: HeaderFields([HeaderField(.vary, request.headerFields[.authorization] ?? "")])
            )
        }.coalescing()
        let (ada, bob) = try (
            DataRequest.example(headerFields: [.bearer("ada")]), DataRequest.example(headerFields: [.bearer("bob")])
        )
        async let first = fetcher.fetch(ada)
        async let second = fetcher.fetch(bob)
        #expect(try await first.headerFields[.vary] == "Bearer ada")
        #expect(try await second.headerFields[.vary] == "Bearer bob")
    }

    @Test func allWaitersReceiveAFailure() async throws {
        let isJoined = Promise<Void>()
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                _ = await isJoined.value()
                throw FetchError(.interrupted, request: request, explanation: "was cut off")
            }
        )
        let fetcher = source.coalescing().observing(with: JoinObserver(of: 1) { isJoined.fulfill(()) })
        async let first = fetcher.reason(request)
        async let second = fetcher.reason(request)
        #expect(await [first, second] == [.interrupted, .interrupted])
        #expect(source.requests.count == 1)
    }

    @Test func cancelledWaiterReturnsImmediatelyAndOthersGetTheResponse() async throws {
        let source = source
        let isJoined = Promise<Void>()
        let fetcher = source.coalescing().observing(with: JoinObserver(of: 1) { isJoined.fulfill(()) })
        let first = Task { [request] in await fetcher.reason(request) }
        let second = Task { [request] in await fetcher.reason(request) }
        _ = await isJoined.value()
        first.cancel()
        #expect(await first.value == .cancelled)
        isReleased.fulfill(())
        #expect(await second.value == nil)
        #expect(source.requests.count == 1)
    }

    @Test(arguments: [AbandonmentPolicy.cancel, .finish])
    func abandonedTransfersFollowThePolicy(abandonment: AbandonmentPolicy) async throws {
        let isBegun = Promise<Void>()
        let isEnded = Promise<Bool>()
        let fetcher = StubDataFetcher { [isReleased] _ throws(FetchError) in
            isBegun.fulfill(())
            _ = await isReleased.value()
            isEnded.fulfill(Task.isCancelled)
            return DataResponse()
        }.coalescing(whenAbandoned: abandonment)
        let caller = Task { [request] in await fetcher.reason(request) }
        _ = await isBegun.value()
        caller.cancel()
        #expect(await caller.value == .cancelled)
        if abandonment == .finish { isReleased.fulfill(()) }
        guard case .fulfilled(let wasCancelled) = await isEnded.value() else { return }
        #expect(wasCancelled == (abandonment == .cancel))
    }

    @Test func deadlineEndsOnlyItsOwnWait() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let isJoined = Promise<Void>()
        let fetcher = HonestDataFetcher(base: source, honorsDeadlines: true).coalescing()
            .observing(with: JoinObserver(of: 1) { isJoined.fulfill(()) })
        let first = Task { [request] in await fetcher.timingOut(after: .seconds(2), timer: timer).reason(request) }
        await timer.timers(1)
        let second = Task { [request] in await fetcher.reason(request) }
        _ = await isJoined.value()
        clock.advance(by: .seconds(2))
        #expect(await first.value == .timedOut)
        isReleased.fulfill(())
        #expect(await second.value == nil)
    }

    @Test(arguments: [DataRequest.Method.post, .delete])
    func readsAfterAChangeDoNotJoinEarlierTransfers(method: DataRequest.Method) async throws {
        let isBegun = Promise<Void>()
        let isReleased = Promise<Void>()
        let change = try DataRequest.example(method: method)
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                // The first read is answered last, with the state before the change.
                if request.method == .get, isBegun.fulfill(()) { _ = await isReleased.value() }
                return DataResponse()
            }
        )
        let fetcher = source.coalescing()
        let request = request
        async let early = fetcher.fetch(request)
        _ = await isBegun.value()
        _ = try await fetcher.fetch(change)
        _ = try await fetcher.fetch(request)
        #expect(source.requests.map(\.method) == [.get, method, .get])
        isReleased.fulfill(())
        _ = try await early
    }

    @Test func readsDuringAChangeDoNotJoinEarlierTransfers() async throws {
        let (isBegun, isReleased) = (Promise<Void>(), Promise<Void>())
        let (isChanging, isChanged) = (Promise<Void>(), Promise<Void>())
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                if request.method == .post {
                    isChanging.fulfill(())
                    _ = await isChanged.value()
                } else if isBegun.fulfill(()) {
                    _ = await isReleased.value()
                }
                return DataResponse()
            }
        )
        let fetcher = source.coalescing()
        let (request, change) = (request, try DataRequest.example(method: .post))
        async let early = fetcher.fetch(request)
        _ = await isBegun.value()
        async let changed = fetcher.fetch(change)
        _ = await isChanging.value()
        _ = try await fetcher.fetch(request)
        #expect(source.requests.map(\.method) == [.get, .post, .get])
        isChanged.fulfill(())
        isReleased.fulfill(())
        _ = try await (early, changed)
    }

    @Test func copyWithAnotherBaseHasSeparateTransfers() async throws {
        let both = Rendezvous(of: 2)
        let source = StubDataFetcher { request throws(FetchError) in
            await both.arrive()
            return DataResponse(headerFields: HeaderFields(request.headerFields.filter { $0.name == .authorization }))
        }
        let fetcher = source.coalescing()
        var copy = fetcher
        copy.base = source.authorizing(with: .bearer("bob"), for: request.url, allowingPlainHTTP: true)
        let (bobs, request) = (copy, request)
        async let first = fetcher.fetch(request)
        async let second = bobs.fetch(request)
        #expect(try await first.headerFields.isEmpty)
        #expect(try await second.headerFields.isEmpty == false)
    }

    @Test func observedAndUnobservedRequestsAreCoalesced() async throws {
        let source = source
        let fetcher = source.coalescing()
        let observed = fetcher.observing(with: JoinObserver(of: 1) { isReleased.fulfill(()) })
        let request = request
        async let first = fetcher.fetch(request)
        // The source answers after the observed request has joined the unobserved one.
        while source.requests.isEmpty { await Task.yield() }
        async let second = observed.fetch(request)
        _ = try await (first, second)
        #expect(source.requests.count == 1)
    }

    @Test func cancelledOrLateRequestsAreNotSent() async throws {
        let source = source
        let fetcher = source.coalescing(whenAbandoned: .finish)
        let request = request
        await withTaskGroup(of: FetchError.Reason?.self) { group in
            group.cancelAll()
            group.addTask { await fetcher.reason(request) }
            #expect(await group.next() == .cancelled)
        }
        let clock = ManualClock()
        let deadline = Deadline(in: .seconds(1), on: clock)
        clock.advance(by: .seconds(1))
        #expect(await deadline.carried { await fetcher.reason(request) } == .success(.timedOut))
        #expect(source.requests.isEmpty)
    }
}
