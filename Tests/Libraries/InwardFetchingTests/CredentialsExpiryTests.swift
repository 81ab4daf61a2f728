import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

/// Tests credentials with a known lifetime, on the clock of a deterministic scheduler.
@Suite(.timeLimit(.minutes(5)))
struct CredentialsExpiryTests {
    private let scheduler = DeterministicScheduler(seed: 1)
    private let tokens = TokenService()
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
    private let request: DataRequest

    private var timer: TimerService { scheduler.timer }
    /// The tokens that were sent, in order.
    private var sent: [String] { source.requests.map { $0.headerFields[.authorization] ?? "" } }

    init() throws {
        request = try .example("https://upstream.test/notes")
    }

    private func credentials(
        _ first: Credential? = nil,
        every interval: Duration = .seconds(10),
        before margin: Duration = .seconds(30),
        within limit: Duration = .seconds(30)
    ) -> Credentials {
        Credentials(
            first,
            for: request.url,
            renewingAtMostEvery: interval,
            renewingBefore: margin,
            limitingRenewalsTo: limit,
            timer: timer,
            executor: scheduler.executor
        ) { [tokens, timer] in try await tokens.next(timer) }
    }

    @Test func credentialsAreRenewedInTheBackgroundBeforeTheyExpire() async throws {
        tokens.plan(lifetime: .seconds(600), duration: .seconds(2))
        let fetcher = source.authorizing(with: credentials(.bearer("0", expiresIn: .seconds(600))))
        try await scheduler.run {
            try await timer.sleep(for: .seconds(570) - .nanoseconds(1))
            _ = try await fetcher.fetch(request)
            #expect(tokens.count == 0)
            try await timer.sleep(for: .nanoseconds(1))
            let start = timer.now
            for _ in 0..<3 { _ = try await fetcher.fetch(request) }
            #expect(timer.now == start)
            try await timer.sleep(for: .seconds(3))
            _ = try await fetcher.fetch(request)
        }
        #expect(tokens.count == 1)
        #expect(sent == ["Bearer 0", "Bearer 0", "Bearer 0", "Bearer 0", "Bearer 1"])
    }

    @Test func requestsWaitForTheRenewalOfExpiredCredentials() async throws {
        tokens.plan(lifetime: .seconds(600), duration: .seconds(2))
        let fetcher = source.authorizing(with: credentials(.bearer("0", expiresIn: .seconds(600))))
        try await scheduler.run {
            try await timer.sleep(for: .seconds(600))
            let start = timer.now
            _ = try await fetcher.fetch(request)
            #expect(timer.now - start == .seconds(2))
        }
        #expect(sent == ["Bearer 1"])
    }

    @Test func renewalMarginIsAtMostAFifthOfTheLifetime() async throws {
        tokens.plan(lifetime: .seconds(5))
        let fetcher = source.authorizing(with: credentials(.bearer("0", expiresIn: .seconds(5))))
        try await scheduler.run {
            try await timer.sleep(for: .seconds(4) - .nanoseconds(1))
            _ = try await fetcher.fetch(request)
            #expect(tokens.count == 0)
            try await timer.sleep(for: .nanoseconds(1))
            _ = try await fetcher.fetch(request)
            try await timer.sleep(for: .milliseconds(1))
            #expect(tokens.count == 1)
        }
    }

    @Test func shortLivedCredentialsAreRenewedBeforeTheIntervalHasPassed() async throws {
        tokens.plan(lifetime: .seconds(5))
        let fetcher = source.authorizing(with: credentials())
        try await scheduler.run {
            for _ in 0..<12 {
                _ = try await fetcher.fetch(request)
                try await timer.sleep(for: .seconds(5))
            }
        }
        #expect(sent == (1...12).map { "Bearer \($0)" })
    }

    /// The origin rejects everything, so every request would cause a renewal.
    @Test(arguments: [(1, 1_000), (2, 1_000), (6, 3_000), (19, 9_500), (20, 10_000), (600, 10_000)])
    func renewalIntervalIsAtMostHalfOfTheLifetime(seconds: Int, milliseconds: Int) async throws {
        tokens.plan(lifetime: .seconds(seconds))
        let source = StubDataFetcher(DataResponse(status: .unauthorized))
        let fetcher = source.authorizing(with: credentials())
        try await scheduler.run {
            _ = try await fetcher.fetch(request)
            try await timer.sleep(for: .milliseconds(milliseconds) - .nanoseconds(1))
            _ = try await fetcher.fetch(request)
            #expect(tokens.count == 1)
            try await timer.sleep(for: .nanoseconds(1))
            _ = try await fetcher.fetch(request)
            #expect(tokens.count == 2)
        }
    }

    @Test func requestRejectedAfterARenewalIsSentAgainWithTheNewCredentials() async throws {
        tokens.plan()
        let (request, timer) = (request, timer)
        let slow = try DataRequest.example("https://upstream.test/slow")
        let origin = StubDataFetcher { request throws(FetchError) in
            if request.url == slow.url { try? await timer.sleep(for: .seconds(2)) }
            return DataResponse(status: request.headerFields[.authorization] == "Bearer 1" ? .ok : .unauthorized)
        }
        let credentials = credentials(.bearer("0"))
        let fetcher = origin.authorizing(with: credentials)
        try await scheduler.run {
            async let late = fetcher.fetch(slow).status
            try await timer.sleep(for: .seconds(1))
            #expect(try await fetcher.fetch(request).status == .ok)
            // Requests in flight may use the earlier renewal.
            credentials.close()
            #expect(try await late == .ok)
        }
        #expect(tokens.count == 1)
    }

    @Test func tinyLifetimesCauseAtMostOneRenewalPerSecond() async throws {
        tokens.plan(lifetime: .milliseconds(1))
        let fetcher = source.authorizing(with: credentials())
        try await scheduler.run {
            _ = try await fetcher.fetch(request)
            for _ in 0..<9 {
                try await timer.sleep(for: .milliseconds(100))
                let error = await fetcher.failure(request)
                #expect(error?.reason == .rejected)
                #expect(error?.explanation.contains("no valid credentials") == true)
            }
            #expect(tokens.count == 1)
            try await timer.sleep(for: .milliseconds(100))
            _ = try await fetcher.fetch(request)
        }
        #expect(tokens.count == 2)
    }

    @Test func zeroLifetimeCountsAsUnknown() async throws {
        tokens.plan(lifetime: .zero)
        let fetcher = source.authorizing(with: credentials())
        try await scheduler.run {
            for _ in 0..<3 {
                _ = try await fetcher.fetch(request)
                try await timer.sleep(for: .seconds(1_000))
            }
        }
        #expect(sent == Array(repeating: "Bearer 1", count: 3))
    }

    @Test func failedRenewalBeforeExpiryIsReportedAndRetriedAfterTheInterval() async throws {
        tokens.plan(lifetime: .seconds(600), failures: 2)
        let credentials = credentials(.bearer("0", expiresIn: .seconds(600)))
        let errors = Journal()
        credentials.whenRenewalFails { errors.add("\($0)") }
        let fetcher = source.authorizing(with: credentials)
        try await scheduler.run {
            try await timer.sleep(for: .seconds(570))
            for _ in 0..<25 {
                _ = try await fetcher.fetch(request)
                try await timer.sleep(for: .seconds(1))
            }
            _ = try await fetcher.fetch(request)
        }
        #expect(errors.entries == Array(repeating: "the token service\nis on holiday", count: 2))
        #expect(tokens.count == 3)
        #expect(sent.prefix(21).allSatisfy { $0 == "Bearer 0" })
        #expect(sent.last == "Bearer 1")
    }

    /// Otherwise one failure of the token endpoint would fail requests.
    @Test(arguments: [5, 20, 50, 600]) func failedRenewalIsRetriedBeforeExpiry(lifetime: Int) async throws {
        let lifetime = Duration.seconds(lifetime)
        tokens.plan(lifetime: lifetime, failures: 1)
        let fetcher = source.authorizing(with: credentials(.bearer("0", expiresIn: lifetime)))
        try await scheduler.run {
            for _ in 0..<200 {
                _ = try await fetcher.fetch(request)
                try await timer.sleep(for: lifetime / 100)
            }
        }
        #expect(tokens.count >= 2)
        #expect(sent.contains("Bearer 1"))
    }

    @Test func hangingRenewalLeavesTimeForAnotherBeforeExpiry() async throws {
        tokens.plan(lifetime: .seconds(600), duration: .seconds(14))
        let hanging = Counter()
        let credentials = Credentials(
            .bearer("0", expiresIn: .seconds(600)),
            for: request.url,
            timer: timer,
            executor: scheduler.executor
        ) { [tokens, timer] in
            if hanging.add() == 1 { try await timer.sleep(for: .seconds(1_000)) }
            return try await tokens.next(timer)
        }
        let fetcher = source.authorizing(with: credentials)
        try await scheduler.run {
            try await timer.sleep(for: .seconds(570))
            for _ in 0..<60 {
                let start = timer.now
                _ = try await fetcher.fetch(request)
                // A request that begins a second before expiry may wait for the second renewal.
                #expect(timer.now - start < .seconds(15))
                try await timer.sleep(for: .seconds(1))
            }
        }
        #expect(hanging.value == 2)
    }

    @Test func renewalFailsAtItsTimeLimit() async throws {
        tokens.plan(duration: .seconds(100))
        let credentials = credentials(within: .seconds(5))
        let errors = Counter()
        credentials.whenRenewalFails { _ in errors.add() }
        let fetcher = source.authorizing(with: credentials)
        try await scheduler.run {
            let start = timer.now
            let error = await fetcher.failure(request)
            #expect(timer.now - start == .seconds(5))
            #expect(error?.reason == .rejected && error?.lacksCredentials == true)
            #expect(error?.explanation == "was not sent: its credentials could not be renewed within 5.0 seconds")
        }
        #expect(errors.value == 1)
        #expect(sent.isEmpty)
    }

    @Test func renewalErrorOfAnyTypeBecomesAOneLineReason() async throws {
        tokens.plan(failures: 1)
        let error = try await scheduler.run { await source.authorizing(with: credentials()).failure(request) }
        #expect(error?.reason == .rejected && error?.lacksCredentials == true && error?.wasSent == false)
        #expect(
            error?.explanation
                == "was not sent: its credentials could not be renewed: the token service is on holiday"
        )
        #expect(error?.request == "GET https://upstream.test/notes")
    }

    @Test func rejectionBeforeExpiryRenewsTheCredentials() async throws {
        tokens.plan(lifetime: .seconds(600))
        let strict = StubDataFetcher { request throws(FetchError) in
            DataResponse(status: request.headerFields[.authorization] == "Bearer 1" ? .ok : .unauthorized)
        }
        let fetcher = strict.authorizing(with: credentials(.bearer("0", expiresIn: .seconds(600))))
        let status = try await scheduler.run { try await fetcher.fetch(request).status }
        #expect(status == .ok)
        #expect(tokens.count == 1)
    }

    @Test func closingCancelsTheRenewalAndPreventsOthers() async throws {
        tokens.plan(duration: .seconds(20))
        let credentials = credentials()
        let errors = Counter()
        credentials.whenRenewalFails { _ in errors.add() }
        let fetcher = source.authorizing(with: credentials)
        try await scheduler.run {
            async let waiting = fetcher.failure(request)
            try await timer.sleep(for: .seconds(1))
            credentials.close()
            #expect(await waiting?.reason == .closed)
            #expect(timer.now == .seconds(1))
            #expect(await fetcher.reason(request) == .closed)
        }
        #expect(tokens.count == 1)
        #expect(errors.value == 0)
    }

    @Test func lifetimesAreClamped() {
        #expect(Credential.bearer("0", expiresIn: .seconds(-1)).lifetime == nil)
        #expect(Credential.bearer("0", expiresIn: .seconds(Int64.max)).lifetime == .seconds(31_536_000))
        #expect(Credential.bearer("0").lifetime == nil)
        #expect(!"\(Credential(HeaderField(.accept, "s3cret")))".contains("s3cret"))
    }
}
