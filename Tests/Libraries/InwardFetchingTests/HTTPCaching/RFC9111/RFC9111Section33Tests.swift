import InwardTesting
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// RFC 9111 sections 3.3 and 3.4: parts of representations.
struct RFC9111Section33Tests {
    private func part(_ body: String, _ range: String, _ fields: String...) -> FetchFixture {
        let lines = ["Cache-Control: max-age=60", "Content-Range: bytes \(range)"] + fields
        return .answer(DataResponse(body, status: .partialContent, lines))
    }

    // MARK: 3.3 Storing incomplete responses

    @Test(arguments: CachePolicy.both)
    func partsAnswerRequestsForRangesInThem(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, part("23456", "2-6/10", "ETag: \"a\""))
        #expect(try await stage.get("Range: bytes=2-6").text == "23456")
        for (range, text) in [("2-6", "23456"), ("3-4", "34"), ("6-6", "6"), ("-8", nil), ("1-3", nil), ("5-", nil)] {
            let answer = try? await stage.get("Range: bytes=\(range)", "Cache-Control: only-if-cached")
            #expect(answer?.status == (text == nil ? 504 : 206), "\(range)")
            #expect(answer?.text == text ?? "", "\(range)")
        }
    }

    @Test func partsAreMarkedAsSuch() async throws {
        let stage = CacheStage(
            .private,
            part("23456", "2-6/10", "Content-Length: 5"),
            .fresh("0123456789", "Content-Length: 10")
        )
        _ = try await stage.get("Range: bytes=2-6")
        let copy = try await stage.get("Range: bytes=3-4")
        #expect(copy.isReused)
        #expect(copy.status == .partialContent)
        #expect(copy.headerFields[.contentRange] == "bytes 3-4/10")
        #expect(copy.headerFields[.contentLength] == "2")
        // The same for a part of a whole response.
        #expect(try await stage.get().status == .ok)
        let end = try await stage.get("Range: bytes=-3")
        #expect(end.isReused)
        #expect(end.status == .partialContent)
        #expect(end.headerFields[.contentRange] == "bytes 7-9/10")
        #expect(end.text == "789")
    }

    @Test(arguments: ["", "ETag: \"a\"", "Last-Modified: Sat, 05 Nov 1994 08:00:00 GMT"])
    func partsDoNotAnswerRequestsForTheWhole(validator: String) async throws {
        let fields = validator.isEmpty ? "X: 1" : validator
        let stage = CacheStage(.private, part("01234", "0-4/10", fields), .fresh("0123456789", fields))
        _ = try await stage.get("Range: bytes=0-4")
        let whole = try await stage.get()
        #expect(!whole.isReused)
        #expect(whole.status == .ok)
        #expect(whole.text == "0123456789")
    }

    /// An upstream with one representation, which obeys conditions and ranges.
    private static let honest = StubDataFetcher { request throws(FetchError) in
        let body = Data("0123456789".utf8)
        var fields = HeaderFields(lines: ["Cache-Control: max-age=60", "ETag: \"a\""])
        if request.headerFields[.ifNoneMatch] == "\"a\"" {
            return DataResponse(status: .notModified, headerFields: fields)
        }
        guard let range = request.headerFields[.range].flatMap(RequestedRange.init)?.bytes(of: 10) else {
            return DataResponse(headerFields: fields, body: body)
        }
        fields[.contentRange] = StoredRange(bytes: range, wholeCount: 10).fieldValue
        return DataResponse(status: .partialContent, headerFields: fields, body: body[range])
    }

    @Test(arguments: [0, 60])
    func aConfirmedPartDoesNotAnswerRequestsForTheWhole(seconds: Int) async throws {
        let stage = CacheStage(upstream: Self.honest)
        #expect(try await stage.get("Range: bytes=0-4").text == "01234")
        stage.advance(seconds)
        let whole = try await stage.get()
        #expect(whole.status == .ok)
        #expect(whole.text == "0123456789")
    }

    @Test(arguments: [0, 60])
    func aConfirmedPartDoesNotAnswerRequestsForOtherRanges(seconds: Int) async throws {
        let stage = CacheStage(upstream: Self.honest)
        #expect(try await stage.get("Range: bytes=0-4").text == "01234")
        stage.advance(seconds)
        let other = try await stage.get("Range: bytes=7-8")
        #expect(other.status == .partialContent)
        #expect(other.text == "78")
        #expect(other.headerFields[.contentRange] == "bytes 7-8/10")
    }

    @Test func aStalePartIsReusedOnceItIsConfirmed() async throws {
        let stage = CacheStage(upstream: Self.honest)
        _ = try await stage.get("Range: bytes=0-4")
        stage.advance(60)
        let copy = try await stage.get("Range: bytes=1-2")
        #expect(copy.status == .partialContent)
        #expect(copy.text == "12")
        #expect(copy.cacheStatus == "Inward; fwd=stale; fwd-status=304; stored; ttl=60")
    }

    @Test func headRequestsAreNotAnsweredFromAPart() async throws {
        let stage = CacheStage(
            .private,
            part("01234", "0-4/10", "ETag: \"a\""),
            .fresh("", "ETag: \"a\"", "Content-Length: 10")
        )
        _ = try await stage.get("Range: bytes=0-4")
        #expect(try await !stage.send(.head).isReused)
        #expect(stage.requests.last?.headerFields[.range] == nil)
    }

    @Test func aPartWithAllBytesIsAWholeResponse() async throws {
        let stage = CacheStage(.private, part("0123", "0-3/4", "ETag: \"a\""))
        _ = try await stage.get("Range: bytes=0-")
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.text == "0123")
    }

    @Test(arguments: CachePolicy.both)
    func aBeginningIsCompletedWithARequestForTheRest(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, part("012", "0-2/10", "ETag: \"a\""), part("3456789", "3-9/10", "ETag: \"a\""))
        _ = try await stage.get("Range: bytes=0-2")
        let whole = try await stage.get("Accept: text/plain")
        let sent = try #require(stage.requests.last)
        #expect(sent.headerFields[.range] == "bytes=3-" && sent.headerFields[.ifRange] == "\"a\"")
        #expect(sent.headerFields[.accept] == "text/plain")
        #expect(whole.status == .ok && whole.text == "0123456789")
        #expect(whole.headerFields[.contentRange] == nil && whole.headerFields[.contentLength] == "10")
        #expect(whole.cacheStatus == "Inward; fwd=partial; fwd-status=206; stored; ttl=60")
        let copy = try await stage.get()
        #expect(copy.isReused && copy.text == "0123456789" && stage.requests.count == 2)
    }

    @Test func aBeginningOfAnOlderVersionIsReplaced() async throws {
        let stage = CacheStage(.private, part("012", "0-2/10", "ETag: \"a\""), .fresh("new", "ETag: \"b\""))
        _ = try await stage.get("Range: bytes=0-2")
        #expect(try await stage.get().text == "new")
        #expect(try await stage.get("Range: bytes=0-1").text == "ne")
        #expect(stage.requests.count == 2)
    }

    /// An upstream that does not send the rest is asked for all.
    @Test(arguments: [
        ("3456789", "3-9/10", "ETag: \"b\""), ("3456789", "3-9/10", "X: 1"), ("56789", "5-9/10", "ETag: \"a\""),
        ("3456789", "3-9/11", "ETag: \"a\""), ("345", "3-5/10", "ETag: \"a\""),
        ("3456789", "3-9/10", "ETag: \"a\"\nCache-Control: no-store"),
    ])
    func aRestThatDoesNotFitIsNotUsed(body: String, range: String, fields: String) async throws {
        let lines = fields.split(separator: "\n").map(String.init)
        let rest = DataResponse(
            body,
            status: .partialContent,
            ["Cache-Control: max-age=60", "Content-Range: bytes \(range)"] + lines
        )
        let stage = CacheStage(.private, part("012", "0-2/10", "ETag: \"a\""), .answer(rest), .fresh("all"))
        _ = try await stage.get("Range: bytes=0-2")
        let whole = try await stage.get()
        #expect(whole.status == .ok && whole.text == "all")
        #expect(stage.requests.count == 3 && stage.requests.last?.headerFields[.range] == nil)
    }

    @Test func aRefusedRangeIsFollowedByARequestForAll() async throws {
        let stage = CacheStage(
            .private,
            part("012", "0-2/10", "ETag: \"a\""),
            .answer(DataResponse(status: .rangeNotSatisfiable)),
            .fresh("all")
        )
        _ = try await stage.get("Range: bytes=0-2")
        #expect(try await stage.get().text == "all")
    }

    @Test(arguments: [
        ("2-6/10", "ETag: \"a\""), ("0-4/*", "ETag: \"a\""), ("0-4/10", "ETag: W/\"a\""), ("0-4/10", "X: 1"),
    ])
    func otherPartsAreNotCompleted(range: String, fields: String) async throws {
        let stage = CacheStage(.private, part("abcde", range, fields), .fresh("all"))
        _ = try await stage.get("Range: bytes=0-4")
        #expect(try await stage.get().text == "all")
        #expect(stage.requests.last?.headerFields[.range] == nil)
    }

    @Test func conditionsOfTheCallerAreNotSentWithARequestForTheRest() async throws {
        let stage = CacheStage(.private, part("012", "0-2/10", "ETag: \"a\""), .fresh("all"))
        _ = try await stage.get("Range: bytes=0-2")
        #expect(try await stage.get("If-None-Match: \"b\"").text == "all")
        #expect(stage.requests.last?.headerFields[.range] == nil)
    }

    // MARK: 3.4 Combining partial content

    @Test(arguments: CachePolicy.both)
    func partsWithOneStrongTagAreCombined(policy: CachePolicy) async throws {
        let stage = CacheStage(policy, upstream: Self.honest)
        #expect(try await stage.get("Range: bytes=0-4").text == "01234")
        #expect(try await stage.get("Range: bytes=5-9").text == "56789")
        let whole = try await stage.get()
        #expect(whole.isReused)
        #expect(whole.status == .ok)
        #expect(whole.text == "0123456789")
        #expect(whole.headerFields[.contentRange] == nil)
    }

    @Test func overlappingPartsAreCombinedInAnyOrder() async throws {
        let stage = CacheStage(upstream: Self.honest)
        for range in ["5-7", "3-5", "7-9", "0-3"] { _ = try await stage.get("Range: bytes=\(range)") }
        let whole = try await stage.get()
        #expect(whole.isReused)
        #expect(whole.text == "0123456789")
    }

    @Test(arguments: [
        ("ETag: \"a\"", "ETag: \"b\""), ("ETag: W/\"a\"", "ETag: W/\"a\""), ("ETag: \"a\"", "ETag: W/\"a\""),
        ("X: 1", "X: 1"),
        ("Last-Modified: Sat, 05 Nov 1994 08:00:00 GMT", "Last-Modified: Sat, 05 Nov 1994 08:00:00 GMT"),
    ])
    func partsWithoutACommonStrongTagAreNotCombined(first: String, second: String) async throws {
        let stage = CacheStage(.private, part("01", "0-1/4", first), part("23", "2-3/4", second), .response("new"))
        _ = try await stage.get("Range: bytes=0-1")
        _ = try await stage.get("Range: bytes=2-3")
        #expect(try await stage.get().text == "new")
    }

    @Test(arguments: [("0-1/5", "3-4/5"), ("3-4/5", "0-1/5"), ("0-1/4", "2-3/5")])
    func partsWithAGapOrOfAnotherLengthAreNotCombined(first: String, second: String) async throws {
        let stage = CacheStage(
            .private,
            part("ab", first, "ETag: \"a\""),
            part("cd", second, "ETag: \"a\""),
            .response("new")
        )
        _ = try await stage.get("Range: bytes=\(first.prefix(3))")
        _ = try await stage.get("Range: bytes=\(second.prefix(3))")
        #expect(try await stage.get("Range: bytes=0-3", "Cache-Control: only-if-cached").status == 504)
        #expect(try await stage.get().text == "new")
    }

    @Test func theCombinedResponseHasTheFieldsOfTheNewPart() async throws {
        let stage = CacheStage(
            .private,
            part("01", "0-1/4", "ETag: \"a\"", "X: old", "X-Kept: 1"),
            part("23", "2-3/4", "ETag: \"a\"", "X: new")
        )
        _ = try await stage.get("Range: bytes=0-1")
        stage.advance(30)
        _ = try await stage.get("Range: bytes=2-3")
        let whole = try await stage.get()
        #expect(whole.isReused)
        #expect(whole["X"] == "new")
        #expect(whole["X-Kept"] == "1")
        #expect(whole.headerFields[.age] == "0")
    }
}
