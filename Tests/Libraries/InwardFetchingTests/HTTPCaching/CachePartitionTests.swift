import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct CachePartitionTests {
    private let clock = ManualClock()

    /// Returns a fetcher that answers each request with its path, tagged with the last part of it.
    private func tagging() -> StubDataFetcher {
        StubDataFetcher { request throws(FetchError) in
            DataResponse(
                headerFields: [
                    HeaderField(.cacheControl, "max-age=60"),
                    // Quotation marks are part of a tag.
                    HeaderField(.cacheTag, "5\", all, \(request.url.lastPathComponent)"),
                ],
                body: Data(request.url.path.utf8)
            )
        }
    }

    /// Fetches URLs and returns those that were answered from memory.
    private func remembered(_ paths: [String], by fetcher: some DataFetcher) async throws -> [String] {
        var remembered: [String] = []
        for path in paths {
            if try await fetcher.fetch(.example("http://upstream.test\(path)")).origin == .memory {
                remembered.append(path)
            }
        }
        return remembered
    }

    private static let paths = ["/a", "/a?x=1", "/a/b", "/ab", "/c"]

    @Test func urlIsRemovedAlone() async throws {
        let partition = ResponseCache(byteLimit: 100_000, clock: clock).makePartition()
        let fetcher = tagging().caching(in: partition)
        _ = try await remembered(Self.paths, by: fetcher)
        // The fragment is not sent.
        partition.remove(try DataRequest.example("http://upstream.test/a#part").url)
        #expect(try await remembered(Self.paths, by: fetcher) == ["/a?x=1", "/a/b", "/ab", "/c"])
    }

    @Test(arguments: ["http://upstream.test/a", "http://upstream.test/a/"])
    func urlsBelowAnotherAreRemoved(url: String) async throws {
        let partition = ResponseCache(byteLimit: 100_000, clock: clock).makePartition()
        let fetcher = tagging().caching(in: partition)
        _ = try await remembered(Self.paths, by: fetcher)
        partition.removeAll(below: try DataRequest.example(url).url)
        #expect(try await remembered(Self.paths, by: fetcher) == ["/ab", "/c"])
    }

    @Test func taggedResponsesAreRemoved() async throws {
        let partition = ResponseCache(byteLimit: 100_000, clock: clock).makePartition()
        let fetcher = tagging().caching(in: partition)
        _ = try await remembered(Self.paths, by: fetcher)
        partition.removeAll(tagged: "a")
        #expect(try await remembered(Self.paths, by: fetcher) == ["/a/b", "/ab", "/c"])
        partition.removeAll(tagged: "all")
        #expect(try await remembered(Self.paths, by: fetcher) == [])
    }

    @Test func otherPartitionsAreUntouched() async throws {
        let cache = ResponseCache(byteLimit: 100_000, clock: clock)
        let (partition, other) = (cache.makePartition(), cache.makePartition(.shared))
        let fetcher = tagging().caching(in: other)
        _ = try await remembered(Self.paths, by: fetcher)
        let url = try DataRequest.example("http://upstream.test/a").url
        partition.remove(url)
        partition.removeAll(below: url)
        partition.removeAll(tagged: "all")
        partition.removeAll()
        partition.close()
        #expect(try await remembered(Self.paths, by: fetcher) == Self.paths)
    }

    /// Removals while a request is under way, after which its response may be outdated.
    enum Removal: CaseIterable {
        case url, below, tag, all, close, write
    }

    @Test(arguments: Removal.allCases)
    func responsesToRequestsUnderWayAreNotStored(removal: Removal) async throws {
        let cache = ResponseCache(byteLimit: 100_000, clock: clock)
        let partition = cache.makePartition()
        let (begun, released) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let fetcher = StubDataFetcher { request throws(FetchError) in
            if request.method == .get {
                await begun.arrive()
                await released.arrive()
            }
            return DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60")])
        }
        .caching(in: partition)
        let read = try DataRequest.example("http://upstream.test/a")
        async let answer = fetcher.fetch(read)
        await begun.arrive()
        switch removal {
        case .url: partition.remove(read.url)
        case .below: partition.removeAll(below: read.url)
        case .tag: partition.removeAll(tagged: "x")
        case .all: partition.removeAll()
        case .close: partition.close()
        case .write: _ = try await fetcher.fetch(.example("http://upstream.test/a", method: .post))
        }
        await released.arrive()
        _ = try? await answer
        #expect(cache.count == 0)
    }

    @Test func equalBodiesAreStoredOnce() async throws {
        let cache = ResponseCache(byteLimit: 100_000, clock: clock)
        let partition = cache.makePartition()
        let fetcher = StubDataFetcher { request throws(FetchError) in
            // Bodies whose beginnings are equal, so that their hashes are.
            let end = request.url.path.hasSuffix("odd") ? "1" : "2"
            return DataResponse(
                headerFields: [HeaderField(.cacheControl, "max-age=60")],
                body: Data((String(repeating: "x", count: 500) + end).utf8)
            )
        }
        .caching(in: partition)
        for path in ["a", "b", "c"] { _ = try await fetcher.fetch(.example("http://upstream.test/\(path)")) }
        #expect(cache.count == 3)
        #expect(cache.bodyCount == 1)
        let odd = try await fetcher.fetch(.example("http://upstream.test/odd"))
        #expect(try await fetcher.fetch(.example("http://upstream.test/odd")).body == odd.body)
        #expect(try await fetcher.fetch(.example("http://upstream.test/a")).body != odd.body)
        partition.removeAll()
        #expect(cache.bodyCount == 0)
    }

    /// Bodies whose beginnings are equal have one place in the pool, so that the end of one meets the end of another.
    @Test func bodiesEndWhileOthersDo() async {
        let pool = BodyPool()
        let start = String(repeating: "x", count: 200)
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<20_000 { _ = pool.body(Data("\(start)\(task) \(number)".utf8)) }
                }
            }
        }
        #expect(pool.count == 0)
    }

    @Test func variantsOfAURLAreLimited() async throws {
        let cache = ResponseCache(byteLimit: 1_000_000, clock: clock)
        var policy = CachePolicy.shared
        policy.variantLimit = 3
        let fetcher = StubDataFetcher { _ throws(FetchError) in
            DataResponse(headerFields: [HeaderField(.cacheControl, "max-age=60"), HeaderField(.vary, "Accept")])
        }
        .caching(in: cache.makePartition(policy))
        for number in 1...5 {
            _ = try await fetcher.fetch(.example(headerFields: [HeaderField(.accept, "text/\(number)")]))
        }
        #expect(cache.count == 3)
        #expect(try await fetcher.fetch(.example(headerFields: [HeaderField(.accept, "text/3")])).origin == .memory)
        #expect(try await fetcher.fetch(.example(headerFields: [HeaderField(.accept, "text/2")])).origin == .upstream)
    }
}
