import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import InwardFetching
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

/// The pages that a browser shows, without a script.
struct PageTests {
    private static let accept: HTTPFields = [.accept: "text/html,*/*;q=0.8"]

    private func text(_ response: TestResponse) -> String { String(buffer: response.body) }

    @Test(arguments: ["/posts", "/posts/after/61", "/users", "/users/7", "/users/7/posts"])
    func pageIsADocumentThatLoadsNothingFromElsewhere(path: String) async throws {
        let response = try await FeedStage().answer(path)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.contentSecurityPolicy] == Page.policy)
        #expect(response.headers[.cacheControl]?.hasPrefix("public, max-age=5") == true)
        let markup = text(response)
        #expect(markup.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(markup.components(separatedBy: "<h1").count == 2)
        let withoutScript = markup.replacing("<script src=\"/live.js\" defer></script>", with: "")
        #expect(!withoutScript.contains("<script") && !markup.contains("style=\"") && !markup.contains("://"))
    }

    @Test func pagesOfTheFeedLeadToTheOldestPost() async throws {
        try await FeedStage().serving { client in
            var (path, pages, articles): (String?, Int, Int) = ("/posts", 0, 0)
            while let next = path {
                let markup = text(try await client.get(next))
                pages += 1
                articles += markup.components(separatedBy: "<article>").count - 1
                path = markup.firstMatch(of: /<a rel="next" href="([^"]*)">/).map { String($0.1) }
            }
            #expect(pages == 5 && articles == 100)
        }
    }

    @Test func everyLinkLeadsToAPage() async throws {
        try await FeedStage().serving { client in
            var (seen, rest): (Set<String>, [String]) = ([], ["/"])
            while let path = rest.popLast() {
                guard seen.insert(path).inserted else { continue }
                let response = try await client.get(path, Self.accept)
                #expect(response.status == .ok || response.status == .found, "\(path)")
                rest += response.headers[.location].map { [$0] } ?? []
                rest += text(response).matches(of: /href="(\/[^"]*)"/).map { String($0.1) }
            }
            #expect(seen.isSuperset(of: ["/posts", "/users", "/style.css", "/users/10", "/posts/after/21"]))
        }
    }

    @Test func slashAtTheEndChangesNothing() async throws {
        try await FeedStage().serving { client in
            for path in ["/posts", "/posts/1", "/posts/after/61", "/users", "/users/7", "/users/7/posts", "/gallery"] {
                let response = try await client.get(path + "/")
                #expect(response.status == .ok, "\(path)")
            }
        }
    }

    @Test func unknownPagesAreShownAsAPageToBrowsersOnly() async throws {
        try await FeedStage().serving { client in
            for path in ["/nothing", "/users/99", "/users/99/posts", "/users/seven", "/posts/after/x"] {
                let page = try await client.get(path, Self.accept)
                #expect(page.status == .notFound && page.headers[.cacheControl] == "no-store")
                #expect(page.headers[.contentSecurityPolicy] == Page.policy)
                #expect(text(page).contains("<h1 dir=\"auto\">Not Found</h1>"))
                _ = try await client.problem(404, at: path)
            }
            _ = try await client.get("/api/nothing", Self.accept).problem(404)
        }
    }

    @Test func textOfAPostIsNeverMarkup() async throws {
        let posts = #"[{"userId":7,"id":1,"title":"<b>Bold</b>","body":"a & b"}]"#
        let upstream = StubDataFetcher { request throws(FetchError) in
            let body = request.url.path().hasSuffix("posts") ? posts : "[]"
            return DataResponse(
                headerFields: [HeaderField(.contentType, "application/json")],
                body: Data(body.utf8)
            )
        }
        let markup = text(try await FeedStage(dataFetcher: upstream).answer("/posts"))
        #expect(markup.contains("&lt;b&gt;Bold&lt;/b&gt;") && markup.contains("a &amp; b"))
        #expect(!markup.contains("<b>"))
    }
}
