import InwardTesting
import Testing

@testable import InwardFetching

/// RFC 9111 section 2, which describes what a cache is.
struct RFC9111Section2Tests {
    // MARK: 2 Overview of cache operation

    @Test(arguments: CachePolicy.both)
    func responsesAreFoundByTheirWholeURL(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, .fresh("1"), .fresh("2"), .fresh("3"), .fresh("4"))
        let paths = ["a", "a?b", "a?B", "A"]
        for (number, path) in paths.enumerated() { #expect(try await stage.get(path: path).text == "\(number + 1)") }
        for (number, path) in paths.enumerated() {
            let copy = try await stage.get(path: path)
            #expect(copy.isReused)
            #expect(copy.text == "\(number + 1)")
        }
    }

    @Test func theFragmentIsNotPartOfTheKey() async throws {
        let stage = CacheStage(.private, .fresh("1"))
        #expect(try await stage.get(path: "a#b").text == "1")
        #expect(try await stage.get(path: "a").isReused)
        #expect(try await stage.get(path: "a#c").isReused)
    }

    @Test func variantsOfOneURLAreStoredSideBySide() async throws {
        let stage = CacheStage(
            .private,
            .fresh("hello", "Vary: Accept-Language"),
            .fresh("hallo", "Vary: Accept-Language")
        )
        #expect(try await stage.get("Accept-Language: en").text == "hello")
        #expect(try await stage.get("Accept-Language: de").text == "hallo")
        #expect(try await stage.get("Accept-Language: en").text == "hello")
        #expect(try await stage.get("Accept-Language: de").text == "hallo")
        #expect(stage.cache.count == 2)
    }

    @Test(arguments: [301, 302, 307, 308, 404, 410, 403, 500])
    func redirectsAndNegativeResultsAreStored(code: Int) async throws {
        let answer = FetchFixture.fresh("1", status: DataResponse.Status(code), "Location: /b")
        let stage = CacheStage(.private, answer)
        _ = try await stage.get()
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.status.code == code)
        #expect(copy.headerFields[.location] == "/b")
    }

    @Test func partitionsAreAPartOfTheKey() async throws {
        let stage = CacheStage(.private, .fresh("1"), .fresh("2"))
        let other = stage.upstream.caching(in: stage.cache.makePartition())
        #expect(try await stage.get().text == "1")
        #expect(try await other.fetch(stage.request()).text == "2")
        #expect(try await stage.get().text == "1")
        #expect(try await other.fetch(stage.request()).text == "2")
    }
}
