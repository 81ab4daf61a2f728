import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

/// Tests credentials whose renewal returned `nil`.
@Suite(.timeLimit(.minutes(5)))
struct CredentialsRefusalTests {
    private let tokens = TokenService()
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .unauthorized)))
    private let request: DataRequest

    init() throws {
        request = try .example("https://upstream.test/notes")
    }

    private func credentials(_ first: Credential? = nil) -> Credentials {
        let timer = TimerService(ManualClock())
        return Credentials(first, for: request.url, timer: timer) { [tokens] in try await tokens.next(timer) }
    }

    @Test func nothingIsSentAfterARefusalAndTheErrorAsksToSignIn() async throws {
        tokens.plan(refuses: true)
        let fetcher = source.authorizing(with: credentials(.bearer("0")))
        for _ in 0..<3 {
            let error = await fetcher.failure(request)
            #expect(error?.reason == .rejected && error?.wasSent == false && error?.canRetry == false)
            #expect(error?.explanation.hasSuffix("Sign in again") == true)
            #expect(error?.lacksCredentials == true && error?.needsSignIn == true)
        }
        #expect(source.requests.count == 1)
        #expect(tokens.count == 1)
    }

    @Test func refusalActionsRunOnceAndImmediatelyIfAddedLater() async throws {
        tokens.plan(refuses: true)
        let credentials = credentials()
        let (early, late, failures) = (Counter(), Counter(), Counter())
        credentials.whenRefused { early.add() }
        credentials.whenRenewalFails { _ in failures.add() }
        #expect(early.value == 0)
        let fetcher = source.authorizing(with: credentials)
        for _ in 0..<3 { _ = await fetcher.failure(request) }
        credentials.whenRefused { late.add() }
        #expect((early.value, late.value, failures.value) == (1, 1, 0))
    }

    @Test func refusalHasTheReasonDenied() async throws {
        tokens.plan(refuses: true)
        let error = try #require(await source.authorizing(with: credentials()).failure(request))
        #expect(RepositoryError.Reason(error) == .denied)
    }

    @Test(arguments: [
        (400, "unavailable"), (401, "denied"), (403, "denied"), (404, "unavailable"), (503, "unavailable"),
    ])
    func tokenEndpointStatusIsNotMistakenForThatOfTheResource(status: Int, reason: String) async throws {
        let endpoint = try DataRequest.example("https://auth.test/token", method: .post)
        let credentials = Credentials(for: request.url) {
            throw FetchError(DataResponse(status: DataResponse.Status(status)), to: endpoint)
        }
        let error = try #require(await source.authorizing(with: credentials).failure(request))
        #expect(error.status?.code == status && error.lacksCredentials)
        #expect("\(RepositoryError.Reason(error))" == reason)
    }
}
