import InwardFetching
import Testing

struct StatusTests {
    @Test(arguments: [(199, false), (200, true), (299, true), (300, false), (404, false)])
    func statusesFrom200To299AreSuccesses(code: Int, isSuccess: Bool) {
        #expect(DataResponse.Status(code).isSuccess == isSuccess)
    }

    /// The upstream did not begin a request that it redirected, rejected or did not understand.
    @Test(arguments: [
        (299, false), (300, true), (304, true), (306, true), (307, false), (308, false), (309, true), (399, true),
        (400, false), (499, false), (500, true), (501, false), (502, true), (504, true), (505, false), (506, true),
        (510, true), (511, false), (512, true), (599, true),
    ])
    func statusTellsWhetherTheOutcomeIsUnknown(code: Int, isOpen: Bool) {
        #expect(DataResponse.Status(code).leavesOutcomeUnknown == isOpen)
    }

    /// RFC 9110 section 15.
    @Test func statusesHaveTheirCodes() {
        let statuses: [DataResponse.Status] = [
            .ok, .created, .partialContent, .notModified, .unauthorized, .notFound, .methodNotAllowed,
            .rangeNotSatisfiable,
        ]
        #expect(statuses.map(\.code) == [200, 201, 206, 304, 401, 404, 405, 416])
    }

    /// From the IANA "HTTP Status Code Registry".
    private static let phrases = """
        200 OK|201 Created|202 Accepted|204 No Content|206 Partial Content
        300 Multiple Choices|301 Moved Permanently|302 Found|303 See Other|304 Not Modified|307 Temporary Redirect
        308 Permanent Redirect|400 Bad Request|401 Unauthorized|402 Payment Required|403 Forbidden|404 Not Found
        405 Method Not Allowed|406 Not Acceptable|407 Proxy Authentication Required|408 Request Timeout|409 Conflict
        410 Gone|411 Length Required|412 Precondition Failed|413 Content Too Large|414 URI Too Long
        415 Unsupported Media Type|416 Range Not Satisfiable|417 Expectation Failed|421 Misdirected Request
        422 Unprocessable Content|423 Locked|424 Failed Dependency|425 Too Early|426 Upgrade Required
        428 Precondition Required|429 Too Many Requests|431 Request Header Fields Too Large
        451 Unavailable For Legal Reasons|500 Internal Server Error|501 Not Implemented|502 Bad Gateway
        503 Service Unavailable|504 Gateway Timeout|505 HTTP Version Not Supported|507 Insufficient Storage
        508 Loop Detected|511 Network Authentication Required
        """.split(whereSeparator: { "|\n".contains($0) }).map(String.init)

    @Test func statusesHaveTheirRegisteredPhrases() throws {
        for phrase in Self.phrases {
            let code = try #require(Int(phrase.prefix(3)))
            #expect(DataResponse.Status(code).description == phrase)
        }
        #expect((100..<600).count { !DataResponse.Status($0).description.hasPrefix("status") } == Self.phrases.count)
    }

    @Test func statusesAreDescribedWithTheirPhrase() {
        #expect(DataResponse.Status.notFound.description == "404 Not Found")
        #expect(DataResponse.Status(599).description == "status 599")
    }
}
