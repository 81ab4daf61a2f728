import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 4, before its subsections: when a cache may reuse a stored response.
@Suite(.timeLimit(.minutes(5)))
struct RFC9111Section4Tests {
    // MARK: 4 Constructing responses from caches

    @Test(arguments: CachePolicy.both)
    func freshResponsesAreReused(policy: CachePolicy) async throws {
        #expect(try await CacheStage.reuses(.fresh("1"), policy, after: 59))
        #expect(try await !CacheStage.reuses(.fresh("1"), policy, after: 60))
    }

    @Test func responsesToOtherURLsAreNotReused() async throws {
        let stage = CacheStage(.private, .fresh("1"), .fresh("2"))
        _ = try await stage.get(path: "a")
        #expect(try await stage.get(path: "b").text == "2")
    }

    @Test func responsesToGetAnswerHeadWithoutTheirBody() async throws {
        let stage = CacheStage(.private, .fresh("1", "Content-Length: 1", "X: 1"))
        _ = try await stage.get()
        let head = try await stage.send(.head)
        #expect(head.isReused)
        #expect(head.status == .ok)
        #expect(head.text == "")
        #expect(head.headerFields[.contentLength] == "1")
        #expect(head["X"] == "1")
    }

    @Test(arguments: CachePolicy.both)
    func noCacheResponsesAreReusedOnlyOnceTheyAreValidated(policy: CachePolicy) async throws {
        let fields = ["Cache-Control: max-age=60, no-cache", "ETag: \"a\""]
        let stage = CacheStage(
            policy,
            .response("1", fields[0], fields[1]),
            .notModified(fields[0], fields[1]),
            .failure(.unreachable)
        )
        _ = try await stage.get()
        let confirmed = try await stage.get()
        #expect(confirmed.text == "1")
        #expect(stage.requests.count == 2)
        await #expect(throws: FetchError.self) { try await stage.get() }
    }

    @Test(arguments: CachePolicy.both)
    func theAgeFieldIsReplacedByTheCurrentAge(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1", "Age: 10"))
        #expect(try await stage.get().headerFields.values(of: .age) == ["10"])
        stage.advance(5)
        #expect(try await stage.get().headerFields.values(of: .age) == ["15"])
        #expect(try await stage.send(.head).headerFields.values(of: .age) == ["15"])
        #expect(try await stage.get("Range: bytes=0-0").headerFields.values(of: .age) == ["15"])
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "MOVE", "UNKNOWN"])
    func unsafeRequestsAreWrittenThrough(name: String) async throws {
        let method = try #require(DataRequest.Method(name))
        let stage = CacheStage(.private, .fresh("1"), .response("2", status: 500))
        _ = try await stage.get()
        let answer = try await stage.send(method)
        #expect(answer.text == "2")
        #expect(!answer.isReused)
        #expect(stage.requests.map(\.method) == [.get, method])
    }

    // MARK: 4 Collapsing requests

    /// Sends equal requests of which all but the first join the first, and returns their answers.
    private func collapsed(_ answers: [DataResponse], count: Int) async throws -> (answers: [DataResponse], sent: Int) {
        let (asked, goOn) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let script = ScriptedDataFetcher(answers.map { .answer($0) })
        let stage = CacheStage(
            upstream: StubDataFetcher { request throws(FetchError) in
                let response = try await script.fetch(request)
                if script.remainingSteps == answers.count - 1 {
                    await asked.arrive()
                    await goOn.arrive()
                }
                return response
            }
        )
        let joined = Rendezvous(of: 2)
        var fetcher = stage.fetcher
        fetcher.observers.append(JoinObserver(of: count - 1) { Task { await joined.arrive() } })
        let request = try stage.request()
        let collapsing = fetcher
        return try await withThrowingTaskGroup(of: DataResponse.self) { group in
            group.addTask { try await collapsing.fetch(request) }
            await asked.arrive()
            for _ in 1..<count { group.addTask { try await collapsing.fetch(request) } }
            await joined.arrive()
            await goOn.arrive()
            var received: [DataResponse] = []
            for try await answer in group { received.append(answer) }
            return (received, stage.requests.count)
        }
    }

    @Test func concurrentRequestsShareAStorableResponse() async throws {
        let answer = DataResponse("1", ["Cache-Control: max-age=60"])
        let (answers, sent) = try await collapsed([answer], count: 5)
        #expect(sent == 1)
        #expect(answers.allSatisfy { $0.text == "1" })
        #expect(answers.count { $0.cacheStatus == "Inward; fwd=uri-miss; collapsed; ttl=60" } == 4)
    }

    @Test func concurrentRequestsDoNotShareAResponseThatCannotBeReused() async throws {
        let answers = (1...3).map { number in
            DataResponse("\(number)", ["Cache-Control: no-store"])
        }
        let (received, sent) = try await collapsed(answers, count: 3)
        #expect(sent == 3)
        #expect(Set(received.map(\.text)) == ["1", "2", "3"])
    }

    // MARK: 4 Choosing the most recent response

    @Test(arguments: [(0, -30, "first"), (-30, 0, "second")])
    func theResponseWithTheLatestDateIsUsed(first: Int, second: Int, expected: String) async throws {
        let stage = CacheStage(
            .private,
            .fresh("first", "Vary: X-A", "Date: \(CacheStage.date(first))"),
            .fresh("second", "Vary: X-B", "Date: \(CacheStage.date(second))")
        )
        #expect(try await stage.get("X-A: 1", "X-B: 2").text == "first")
        #expect(try await stage.get("X-A: 2", "X-B: 1").text == "second")
        // This request matches both.
        let answer = try await stage.get("X-A: 1", "X-B: 1")
        #expect(answer.isReused)
        #expect(answer.text == expected)
    }
}
