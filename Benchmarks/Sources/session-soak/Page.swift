import Foundation
import InwardFetching
import InwardRepositories
import InwardTesting

/// An entity that sessions read, and hold in memory while they are open.
struct Page: Identifiable, Sendable {
    let id: Int
    let text: String
}

struct PageDTO: RecordDTO {
    static let listName = "pages"
    let id: Int
    let text: String

    init(_ page: Page) { (id, text) = (page.id, page.text) }

    func entity() throws(FieldError) -> Page { Page(id: id, text: text) }
}

extension Endpoint where Entity == Page {
    static let pages = Endpoint(PageDTO.self, at: "pages")
}

/// Returns an upstream that answers each request with a page of 4 KiB.
func pageUpstream() -> StubDataFetcher {
    let text = String(repeating: "x", count: 4_096)
    return StubDataFetcher { request throws(FetchError) in
        DataResponse(body: Data(#"{"id": \#(request.url.lastPathComponent), "text": "\#(text)"}"#.utf8))
    }
}
