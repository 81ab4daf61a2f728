import InterfaceAdapters
import InwardTesting
import Testing
import UseCases

@Suite(.timeLimit(.minutes(5)))
struct CredentialsTests {
    /// Takes one bearer token and no other.
    private struct StrictDataFetcher: DataFetcher {
        let token: String

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            DataResponse(status: request.headerFields[.authorization] == "Bearer \(token)" ? .ok : .unauthorized)
        }
    }

    private let request: DataRequest

    init() throws {
        request = try .example()
    }

    @Test func theyAreRenewedWhenTheyAreNotTakenAndTheRequestIsSentOnceMore() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in .bearer("new") }
        let fetcher = source.authorizing(with: credentials)
        #expect(try await fetcher.fetch(request).status == .ok)
        #expect(source.requests.map { $0.headerFields[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(source.requests.map(\.attempt) == [1, 2])
        #expect(source.requests.allSatisfy { $0.headerFields.allSatisfy(\.isSensitive) })
        // The next request has them from the start.
        #expect(try await fetcher.fetch(request).status == .ok)
        #expect(source.requests.count == 3)
    }

    @Test func whatIsNotTakenAfterwardsEitherIsTheAnswer() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "other"))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in .bearer("new") }
        #expect(try await source.authorizing(with: credentials).fetch(request).status == .unauthorized)
        #expect(source.requests.count == 2)
    }

    @Test func thoseThatCannotBeRenewedAreSentOnce() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        #expect(
            try await source.authorizing(with: .bearer("old"), for: request.url).fetch(request).status == .unauthorized
        )
        #expect(source.requests.count == 1)
    }

    @Test func withoutAnyTheyAreHadBeforeTheFirstRequest() async throws {
        let source = RecordingDataFetcher(StrictDataFetcher(token: "new"))
        let credentials = Credentials(for: request.url) { () throws(FetchError) in .bearer("new") }
        #expect(try await source.authorizing(with: credentials).fetch(request).status == .ok)
        #expect(source.requests.count == 1)
    }

    @Test func oneRenewalIsSharedByAllWhoWait() async throws {
        let renewals = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let all = Rendezvous(of: 100)
        let source = StubDataFetcher { request throws(FetchError) in
            guard request.headerFields[.authorization] == "Bearer old" else { return DataResponse() }
            // All were sent with the old ones before anybody knows.
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

    @Test func aRenewalThatFailsIsTheFailureOfWhoWaitsForIt() async throws {
        let token = try DataRequest.example("http://auth.test/token", method: .post)
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in
            throw FetchError(.unreachable, request: token, explanation: "reached nobody")
        }
        let fetcher = StrictDataFetcher(token: "new").authorizing(with: credentials)
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.description == "POST http://auth.test/token reached nobody")
    }

    @Test func whoIsCancelledLeavesTheRenewalToTheOthers() async throws {
        let isBegun = Promise<Void>()
        let isReleased = Promise<Void>()
        let credentials = Credentials(.bearer("old"), for: request.url) { () async throws(FetchError) in
            isBegun.keep(())
            _ = await isReleased.value()
            return .bearer(Task.isCancelled ? "cancelled" : "new")
        }
        let fetcher = StrictDataFetcher(token: "new").authorizing(with: credentials)
        let caller = Task { [request] in await fetcher.reason(request) }
        _ = await isBegun.value()
        caller.cancel()
        #expect(await caller.value == .cancelled)
        isReleased.keep(())
        #expect(try await fetcher.fetch(request).status == .ok)
    }

    @Test func aRedirectToSomebodyElseWhoTakesNoneRenewsNothing() async throws {
        let elsewhere = try DataRequest.example("http://other.test/").url
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .unauthorized, url: elsewhere)))
        let credentials = Credentials(.bearer("old"), for: request.url) { () throws(FetchError) in
            Issue.record("They were renewed.")
            return .bearer("new")
        }
        _ = try await source.authorizing(with: credentials).fetch(request)
        #expect(source.requests.count == 1)
    }

    @Test func theyShowInNoDescription() throws {
        let credentials = Credentials(HeaderField(.accept, "s3cret"), for: request.url) { () throws(FetchError) in
            .bearer("s3cret")
        }
        let fetcher = StubDataFetcher(DataResponse()).authorizing(with: credentials)
        for text in [
            "\(credentials)", String(reflecting: credentials), String(describing: fetcher),
            fetcher.pipeline.description,
        ] {
            #expect(!text.contains("s3cret"))
        }
        #expect(fetcher.layer.description == "sends credentials for http://upstream.test:80")
        var shown = ""
        dump(fetcher, to: &shown)
        #expect(!shown.contains("s3cret"))
    }
}
