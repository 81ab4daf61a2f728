import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Parts of representations in the cache.
struct CachingRangesTests {
    private let clock = ManualClock()

    private func request(_ range: String? = nil, _ more: HeaderField...) throws -> DataRequest {
        var request = try DataRequest.example(headerFields: HeaderFields(more))
        request.headerFields[.range] = range
        return request
    }

    private func response(
        _ body: String,
        part: String? = nil,
        tag: String = "\"a\"",
        status: DataResponse.Status? = nil,
        lifetime: Int = 60
    ) -> DataResponse {
        var fields: HeaderFields = [HeaderField(.cacheControl, "max-age=\(lifetime)"), HeaderField(.etag, tag)]
        fields[.contentRange] = part.map { "bytes \($0)" }
        return DataResponse(
            status: status ?? (part == nil ? .ok : .partialContent),
            headerFields: fields,
            body: Data(body.utf8)
        )
    }

    private func fetcher(_ answers: DataResponse...) -> (RecordingDataFetcher, CachingDataFetcher) {
        let source = RecordingDataFetcher(ScriptedDataFetcher(answers.map { .answer($0) }))
        return (source, source.caching(in: ResponseCache(byteLimit: 100_000, clock: clock).makePartition(.shared)))
    }

    private func body(_ response: DataResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func partsThatMeetAreCombined() async throws {
        let (source, fetcher) = fetcher(
            response("0123", part: "0-3/10"),
            response("456", part: "4-6/10"),
            response("56789", part: "5-9/10")
        )
        for range in ["bytes=0-3", "bytes=4-6", "bytes=5-9"] { _ = try await fetcher.fetch(request(range)) }
        let whole = try await fetcher.fetch(request())
        #expect(whole.status == .ok)
        #expect(body(whole) == "0123456789")
        #expect(whole.headerFields[.contentRange] == nil)
        let middle = try await fetcher.fetch(request("bytes=2-7"))
        #expect(middle.status == .partialContent)
        #expect(body(middle) == "234567")
        #expect(middle.headerFields[.contentRange] == "bytes 2-7/10")
        #expect(source.requests.count == 3)
    }

    @Test func partsOfOtherVersionsAndPartsWithAGapAreNotCombined() async throws {
        let (source, fetcher) = fetcher(
            response("01", part: "0-1/10"),
            response("45", part: "4-5/10"),
            response("23", part: "2-3/10", tag: "\"b\""),
            response("0123456789")
        )
        for range in ["bytes=0-1", "bytes=4-5", "bytes=2-3"] { _ = try await fetcher.fetch(request(range)) }
        #expect(try await body(fetcher.fetch(request())) == "0123456789")
        #expect(source.requests.count == 4)
    }

    /// A condition of the cache could make the upstream confirm the part, which does not contain what the caller asks for.
    @Test func stalePartIsNotMistakenForTheWhole() async throws {
        let (source, fetcher) = fetcher(response("01", part: "0-1/10", lifetime: 1), response("0123456789"))
        _ = try await fetcher.fetch(request("bytes=0-1"))
        clock.advance(by: .seconds(2))
        let whole = try await fetcher.fetch(request())
        #expect(whole.status == .ok)
        #expect(body(whole) == "0123456789")
        #expect(source.requests.last == (try request()))
    }

    /// A request for bytes that are not stored is sent as it is: a condition of the cache could make the upstream send nothing.
    @Test func requestForOtherBytesIsSentAsItIs() async throws {
        let (source, fetcher) = fetcher(response("01", part: "0-1/10"), response("89", part: "8-9/10"))
        _ = try await fetcher.fetch(request("bytes=0-1"))
        #expect(try await body(fetcher.fetch(request("bytes=8-9"))) == "89")
        #expect(source.requests.last == (try request("bytes=8-9")))
    }

    @Test func unsatisfiableRangeSaysHowMuchThereIs() async throws {
        let (source, fetcher) = fetcher(response("0123456789"))
        _ = try await fetcher.fetch(request())
        let answer = try await fetcher.fetch(request("bytes=10-"))
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.headerFields[.contentRange] == "bytes */10")
        #expect(answer.body.isEmpty)
        #expect(source.requests.count == 1)
    }

    /// It answers one request, and not the next one for the same URL.
    @Test func unsatisfiableRangesOfTheUpstreamAreNotStored() async throws {
        let (_, fetcher) = fetcher(response("", status: .rangeNotSatisfiable), response("0123456789"))
        _ = try await fetcher.fetch(request("bytes=10-"))
        #expect(try await body(fetcher.fetch(request())) == "0123456789")
    }

    @Test(arguments: [("\"a\"", true), ("W/\"a\"", false), ("\"b\"", false), ("Sun, 06 Nov 1994 08:49:37 GMT", false)])
    func rangeIsSentOnlyOfTheVersionThatTheCallerHas(condition: String, isPart: Bool) async throws {
        let (_, fetcher) = fetcher(response("0123456789"))
        _ = try await fetcher.fetch(request())
        let answer = try await fetcher.fetch(request("bytes=0-1", HeaderField(.ifRange, condition)))
        #expect(body(answer) == (isPart ? "01" : "0123456789"))
        #expect(answer.status == (isPart ? .partialContent : .ok))
    }

    @Test(arguments: ["4-9/10", "4-7/10", "0-9/10", "*/10", "4-8/8"])
    func partsThatAreNotAsLongAsTheySayAreNotStored(part: String) async throws {
        let (source, fetcher) = fetcher(response("45678", part: part), response("0123456789"))
        _ = try await fetcher.fetch(request("bytes=4-8"))
        #expect(try await body(fetcher.fetch(request("bytes=4-8"))) == "0123456789")
        #expect(source.requests.count == 2)
    }

    @Test func sliceOfABodyIsServedFromItsOwnPositions() async throws {
        // A body whose indices do not begin at zero.
        var answer = response("")
        answer.body = Data("xx0123456789".utf8).dropFirst(2)
        let (_, fetcher) = fetcher(answer)
        _ = try await fetcher.fetch(request())
        #expect(try await body(fetcher.fetch(request("bytes=3-4"))) == "34")
        #expect(try await body(fetcher.fetch(request("bytes=-2"))) == "89")
    }
}
