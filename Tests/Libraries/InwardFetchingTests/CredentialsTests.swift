import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CredentialsTests {
    /// A fetcher that accepts only one bearer token.
    private struct StrictDataFetcher: DataFetcher {
        let token: String

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            DataResponse(status: request.headerFields[.authorization] == "Bearer \(token)" ? .ok : .unauthorized)
        }
    }

    private let request: DataRequest

    init() throws {
        request = try .example("https://upstream.test/users")
    }

    @Test func rejectedCredentialsAreRenewedAndTheRequestIsSentOnceMore() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in .bearer("new") }
        let fetcher = source.authorizing(with: credentials)
        let response = try await fetcher.fetch(request)
        #expect(response.status == .ok)
        #expect(response.retries == RetryReport(attempts: 2, ending: "the last with new credentials"))
        #expect(source.requests.map { $0.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(source.requests.map(\.attempt) == [1, 2])
        #expect(source.requests.allSatisfy { $0.headerFields.allSatisfy(\.isSensitive) })
        // The next request sends the new credentials from the start.
        #expect(try await fetcher.fetch(request).status == .ok)
        #expect(source.requests.count == 3)
    }

    @Test func secondRejectionIsReturned() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "other"))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in .bearer("new") }
        #expect(try await source.authorizing(with: credentials).fetch(request).status == .unauthorized)
        #expect(source.requests.count == 2)
    }

    @Test func fixedCredentialsAreSentOnce() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        #expect(
            try await source.authorizing(with: .bearer("old"), for: request.url).fetch(request).status == .unauthorized
        )
        #expect(source.requests.count == 1)
    }

    @Test func missingCredentialsAreObtainedBeforeTheFirstRequest() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        let credentials = Credentials(for: request.url) { () throws(FetchError) in .bearer("new") }
        #expect(try await source.authorizing(with: credentials).fetch(request).status == .ok)
        #expect(source.requests.count == 1)
    }

    @Test func allWaitersShareOneRenewal() async throws {
        let renewals = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let all = Rendezvous(of: 100)
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.headerFields[.authorization] == "Bearer old" else { return DataResponse() }
            // All requests are sent with the old credentials before the first rejection arrives.
            await all.arrive()
            return DataResponse(status: .unauthorized)
        }
        let request = request
        let credentials = Credentials(.bearer("old"), for: request.url) { () async throws(FetchError) in
            _ = try await renewals.fetch(request)
            return .bearer("new")
        }
        let fetcher = source.authorizing(with: credentials)
        await withTaskGroup(of: DataResponse.Status?.self) { group in
            for _ in 0..<100 { group.addTask { try? await fetcher.fetch(request).status } }
            #expect(await group.allSatisfy { $0 == .ok })
        }
        #expect(renewals.requests.count == 1)
    }

    @Test func allWaitersReceiveTheErrorOfAFailedRenewal() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let (timer, request, renewals) = (scheduler.timer, request, Counter())
        let token = try DataRequest.example("http://auth.test/token", method: .post)
        let credentials = Credentials(.bearer("old"), for: request.url, timer: timer, executor: scheduler.executor) {
            () async throws(FetchError) in
            renewals.add()
            // The clock advances when all requests wait for the renewal.
            try? await timer.sleep(for: .seconds(1))
            throw FetchError(.unreachable, request: token, explanation: "reached nobody")
        }
        let fetcher = StrictDataFetcher(token: "new").authorizing(with: credentials)
        let errors = try await scheduler.run {
            await withTaskGroup(of: FetchError?.self) { group in
                for _ in 0..<10 { group.addTask { await fetcher.failure(request) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(errors.count == 10 && renewals.value == 1)
        for error in errors {
            #expect(error?.description == "POST http://auth.test/token reached nobody")
            // The request was not sent, because it lacked credentials.
            #expect(error?.lacksCredentials == true && error?.wasSent == false)
        }
    }

    @Test func cancelledWaiterDoesNotEndTheRenewal() async throws {
        let isBegun = Promise<Void>()
        let isReleased = Promise<Void>()
        let credentials = Credentials(.bearer("old"), for: request.url) { () async throws(FetchError) in
            isBegun.fulfill(())
            _ = await isReleased.value()
            return .bearer(Task.isCancelled ? "cancelled" : "new")
        }
        let fetcher = StrictDataFetcher(token: "new").authorizing(with: credentials)
        let caller = Task { [request] in await fetcher.failure(request) }
        _ = await isBegun.value()
        caller.cancel()
        let error = await caller.value
        #expect(error?.reason == .cancelled && error?.wasSent == false)
        isReleased.fulfill(())
        #expect(try await fetcher.fetch(request).status == .ok)
    }

    @Test func waiterStopsWaitingForTheRenewalAtItsDeadline() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let isReleased = Promise<Void>()
        let credentials = Credentials(.bearer("old"), for: request.url) { () async throws(FetchError) in
            _ = await isReleased.value()
            return .bearer("new")
        }
        let fetcher = StrictDataFetcher(token: "new").authorizing(with: credentials)
        let caller = Task { [request] in
            await Deadline(in: .seconds(5), on: timer).carried { await fetcher.failure(request) }.get()
        }
        await timer.timers(1)
        clock.advance(by: .seconds(5))
        let error = await caller.value
        #expect(error?.reason == .timedOut && error?.wasSent == false)
        isReleased.fulfill(())
        #expect(try await fetcher.fetch(request).status == .ok)
    }

    @Test func rejectionByAnotherOriginAfterARedirectDoesNotRenewCredentials() async throws {
        let elsewhere = try DataRequest.example("http://other.test/").url
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .unauthorized, url: elsewhere)))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in
            Issue.record("The credentials were renewed.")
            return .bearer("new")
        }
        _ = try await source.authorizing(with: credentials).fetch(request)
        #expect(source.requests.count == 1)
    }

    /// A token endpoint that counts the tokens it issues.
    private final class Issuer: Sendable {
        private let counter = Atomic(0)

        var count: Int { counter.load(ordering: .relaxed) }

        func issue() -> Credential { .bearer("\(counter.add(1, ordering: .relaxed).newValue)") }
    }

    @Test func originThatRejectsEverythingCausesOneRenewalPerInterval() async throws {
        let clock = ManualClock()
        let issuer = Issuer()
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .unauthorized)))
        let credentials = Credentials(
            .bearer("0"),
            for: request.url,
            renewingAtMostEvery: .seconds(10),
            timer: TimerService(clock)
        ) { () throws(FetchError) in issuer.issue() }
        let fetcher = source.authorizing(with: credentials)
        for _ in 0..<100 { #expect(try await fetcher.fetch(request).status == .unauthorized) }
        #expect(issuer.count == 1)
        #expect(source.requests.count == 101)
        let denied = FetchError(try await fetcher.fetch(request), to: request)
        #expect(
            denied.explanation == """
                was answered with 401 Unauthorized (1 attempt, not repeated with new credentials, because its credentials are \
                renewed at most once in 10.0 seconds)
                """
        )
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        _ = try await fetcher.fetch(request)
        #expect(issuer.count == 1)
        clock.advance(by: .nanoseconds(1))
        _ = try await fetcher.fetch(request)
        #expect(issuer.count == 2)
    }

    @Test func failedRenewalIsNotRepeatedForEachRequest() async throws {
        let clock = ManualClock()
        let issuer = Issuer()
        let token = try DataRequest.example("https://auth.test/token", method: .post)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let credentials = Credentials(
            for: request.url,
            renewingAtMostEvery: .seconds(10),
            timer: TimerService(clock)
        ) { () throws(FetchError) in
            _ = issuer.issue()
            throw FetchError(.unreachable, request: token, explanation: "reached nobody")
        }
        let fetcher = source.authorizing(with: credentials)
        #expect(await fetcher.reason(request) == .unreachable)
        clock.advance(by: .seconds(4))
        let error = await fetcher.failure(request)
        #expect(error?.reason == .rejected)
        #expect(error?.retryAfter == .delay(.seconds(6)))
        #expect(error?.explanation.contains("at most once in 10.0 seconds") == true)
        #expect(issuer.count == 1)
        clock.advance(by: .seconds(6))
        #expect(await fetcher.reason(request) == .unreachable)
        #expect(issuer.count == 2)
        #expect(source.requests.isEmpty)
    }

    @Test func concurrentRejectionsCauseOneRenewal() async throws {
        let issuer = Issuer()
        let source = StubDataFetcher(DataResponse(status: .unauthorized))
        let credentials = Credentials(.bearer("0"), for: request.url, timer: TimerService(ManualClock())) {
            () throws(FetchError) in issuer.issue()
        }
        let fetcher = source.authorizing(with: credentials)
        await withTaskGroup { [request] group in
            for _ in 0..<200 { group.addTask { _ = await fetcher.failure(request) } }
        }
        #expect(issuer.count == 1)
    }

    @Test func actionsRunWhenRenewedCredentialsAreFirstAccepted() async throws {
        let clock = ManualClock()
        let serial = Mutex(0)
        let actions = Mutex(0)
        let credentials = Credentials(.bearer("0"), for: request.url, timer: TimerService(clock)) {
            () throws(FetchError) in
            let number = serial.withLock { serial in
                serial += 1
                return serial
            }
            return .bearer("\(number)")
        }
        credentials.whenRenewed { actions.withLock { $0 += 1 } }
        _ = try await StrictDataFetcher(token: "0").authorizing(with: credentials).fetch(request)
        let strict = StrictDataFetcher(token: "2").authorizing(with: credentials)
        // The renewed credentials are rejected too.
        #expect(try await strict.fetch(request).status == .unauthorized)
        #expect(actions.withLock(\.self) == 0)
        clock.advance(by: Credentials.standardRenewalInterval)
        for _ in 0..<3 { #expect(try await strict.fetch(request).status == .ok) }
        #expect(actions.withLock(\.self) == 1)
    }

    @Test(arguments: [("https://upstream.test/elsewhere", 1), ("https://other.test/", 0)])
    func renewedCredentialsAreAcceptedOnlyIfTheirOriginAnswers(address: String, count: Int) async throws {
        let answerer = try DataRequest.example(address).url
        let source = StubDataFetcher { request throws(FetchError) in
            request.headerFields[.authorization] == "Bearer new"
                ? DataResponse(url: answerer) : DataResponse(status: .unauthorized)
        }
        let accepted = Counter()
        let credentials = Credentials(.bearer("old"), for: request.url) { .bearer("new") }
        credentials.whenRenewed { accepted.add() }
        _ = try await source.authorizing(with: credentials).fetch(request)
        #expect(accepted.value == count)
    }

    @Test func credentialsRenewedByAnotherRequestAreNotedWhenFirstAccepted() async throws {
        let isReachable = Atomic(false)
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.headerFields[.authorization] == "Bearer new" else {
                return DataResponse(status: .unauthorized)
            }
            guard isReachable.load(ordering: .relaxed) else {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody")
            }
            return DataResponse()
        }
        let accepted = Counter()
        let credentials = Credentials(.bearer("old"), for: request.url) { .bearer("new") }
        credentials.whenRenewed { accepted.add() }
        let fetcher = source.authorizing(with: credentials)
        // This request renews the credentials, but the origin does not answer it with the new ones.
        #expect(await fetcher.reason(request) == .unreachable)
        #expect(accepted.value == 0)
        isReachable.store(true, ordering: .relaxed)
        for _ in 0..<2 { #expect(try await fetcher.fetch(request).status == .ok) }
        #expect(accepted.value == 1)
    }

    @Test func firstCredentialsAreNotedWhenAccepted() async throws {
        let accepted = Counter()
        let credentials = Credentials(for: request.url) { () throws(FetchError) in .bearer("new") }
        credentials.whenRenewed { accepted.add() }
        _ = try await StrictDataFetcher(token: "new").authorizing(with: credentials).fetch(request)
        #expect(accepted.value == 1)
    }

    @Test func descriptionsDoNotContainCredentials() throws {
        let credentials = Credentials(Credential(HeaderField(.accept, "s3cret")), for: request.url) {
            () throws(FetchError) in
            .bearer("s3cret")
        }
        let fetcher = StubDataFetcher(DataResponse()).authorizing(with: credentials)
        for text in [
            "\(credentials)", String(reflecting: credentials), String(describing: fetcher),
            fetcher.pipeline.description,
        ] {
            #expect(!text.contains("s3cret"))
        }
        #expect(fetcher.layer.description == "sends credentials for https://upstream.test:443")
        var shown = ""
        dump(fetcher, to: &shown)
        #expect(!shown.contains("s3cret"))
    }
}
