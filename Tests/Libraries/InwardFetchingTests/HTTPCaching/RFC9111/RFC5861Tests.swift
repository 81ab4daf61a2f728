import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 5861: stale responses while the cache revalidates, and on errors.
@Suite(.timeLimit(.minutes(5)))
struct RFC5861Tests {
    private func answer(_ directives: String, _ fields: String...) -> FetchFixture {
        .answer(DataResponse("1", ["Cache-Control: max-age=60, \(directives)", "ETag: \"a\""] + fields))
    }

    // MARK: 3 stale-while-revalidate

    @Test(arguments: CachePolicy.both)
    func aStaleResponseIsUsedWithinTheWindow(policy: CachePolicy) async throws {
        for (seconds, isReused) in [(59, true), (60, true), (69, true), (70, false)] {
            let response = answer("stale-while-revalidate=10")
            #expect(try await CacheStage.reuses(response, policy, after: seconds) == isReused, "\(seconds)")
        }
        #expect(try await !CacheStage.reuses(answer("stale-while-revalidate=x"), policy, after: 60))
        #expect(try await !CacheStage.reuses(answer("stale-while-revalidate"), policy, after: 60))
    }

    /// An upstream whose answers after the first wait until the test lets them go on.
    private func slow(_ asked: Rendezvous, _ goOn: Rendezvous, _ news: DataResponse) -> any DataFetcher {
        let script = ScriptedDataFetcher([
            answer("stale-while-revalidate=10", "Vary: Accept"), .answer(news), .answer(news),
        ])
        return StubDataFetcher { request throws(FetchError) in
            let response = try await script.fetch(request)
            guard script.remainingSteps < 2 else { return response }
            await asked.arrive()
            await goOn.arrive()
            return response
        }
    }

    @Test func theCacheAsksForANewerResponseMeanwhile() async throws {
        let (asked, goOn) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let stage = CacheStage(
            upstream: slow(asked, goOn, DataResponse("2", ["Cache-Control: max-age=60", "Vary: Accept"]))
        )
        _ = try await stage.get("Accept: a")
        stage.advance(60)
        let stale = try await stage.get("Accept: a")
        #expect(stale.text == "1")
        #expect(stale.headerFields[.age] == "60")
        #expect(stale.cacheStatus == "Inward; hit; ttl=0")
        await asked.arrive()
        // Other callers get the stale response, too, and do not ask again.
        #expect(try await stage.get("Accept: a").text == "1")
        #expect(stage.requests.count == 2)
        #expect(stage.requests[1].headerFields[.ifNoneMatch] == "\"a\"")
        #expect(stage.requests[1].headerFields[.accept] == "a")
        await goOn.arrive()
        var text = ""
        while text != "2" {
            text = try await stage.get("Accept: a", "Cache-Control: only-if-cached").text
            await Task.yield()
        }
        #expect(stage.requests.count == 2)
    }

    // MARK: 4 stale-if-error

    @Test(arguments: CachePolicy.both, [500, 502, 503, 504])
    func aStaleResponseReplacesAServerErrorWithinTheWindow(policy: CachePolicy, code: Int) async throws {
        for (seconds, isUsed) in [(60, true), (69, true), (70, false)] {
            let stage = CacheStage(
                policy,
                answer("stale-if-error=10"),
                .response("2", status: DataResponse.Status(code))
            )
            _ = try await stage.get()
            stage.advance(seconds)
            let response = try await stage.get()
            #expect(response.text == (isUsed ? "1" : "2"), "\(seconds)")
            #expect(response.status.code == (isUsed ? 200 : code), "\(seconds)")
            if isUsed { #expect(response.headerFields[.age] == "\(seconds)") }
        }
    }

    @Test(arguments: [501, 505, 404, 429])
    func otherStatusesAreForwarded(code: Int) async throws {
        let stage = CacheStage(.private, answer("stale-if-error=10"), .response("2", status: DataResponse.Status(code)))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "2")
    }

    @Test func aStaleResponseReplacesAMissingAnswerWithinTheWindowOnly() async throws {
        for (seconds, isUsed) in [(60, true), (69, true), (70, false)] {
            let stage = CacheStage(.private, answer("stale-if-error=10"), .failure(.unreachable))
            _ = try await stage.get()
            stage.advance(seconds)
            #expect((try? await stage.get())?.text == (isUsed ? "1" : nil), "\(seconds)")
        }
    }

    @Test func aRequestCanPermitStaleResponsesOnErrors() async throws {
        let stage = CacheStage(.private, answer("x"), .response("2", status: 503), .response("3", status: 503))
        _ = try await stage.get()
        stage.advance(69)
        #expect(try await stage.get("Cache-Control: stale-if-error=10").text == "1")
        stage.advance(1)
        #expect(try await stage.get("Cache-Control: stale-if-error=10").text == "3")
    }

    @Test func aResponseWithoutThePermissionIsNotUsed() async throws {
        let stage = CacheStage(.private, answer("x"), .response("2", status: 503))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().text == "2")
    }
}
