import Foundation
import InterfaceAdapters
import InwardTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DataFetcherConformanceTests {
    private static let large = Data(repeating: 0x78, count: 20_000)

    /// A fetcher that does all that it must, but for what a test takes away from it.
    private struct Example: DataFetcher {
        var change: @Sendable (inout DataResponse, DataRequest) -> Void = { _, _ in }
        var honoursCancellation = true
        var refusesTheImpossible = true

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            if honoursCancellation, Task.isCancelled {
                throw FetchError(.cancelled, request: request, explanation: "was cancelled")
            }
            if refusesTheImpossible, request.url.scheme != "http" {
                throw FetchError(.invalidRequest, request: request, explanation: "cannot be asked")
            }
            await Task.yield()
            var response: DataResponse =
                switch request.url.lastPathComponent {
                case "small":
                    DataResponse(headerFields: [HeaderField(.contentType, "text/plain")], body: Data("x".utf8))
                case "large": DataResponse(body: large)
                default: DataResponse(status: .notFound)
                }
            if request.method == .head { response.body = Data() }
            change(&response, request)
            return response
        }
    }

    private func request(_ path: String) throws -> DataRequest {
        DataRequest(url: try #require(URL(string: "http://upstream.test/\(path)")))
    }

    private func conformance(without path: String? = nil) throws -> DataFetcherConformance {
        let exchanges = try [
            DataFetcherExchange(
                request("small"),
                DataResponse(headerFields: [HeaderField(.contentType, "text/plain")], body: Data("x".utf8))
            ),
            DataFetcherExchange(request("large"), DataResponse(body: Self.large)),
            DataFetcherExchange(request("missing"), DataResponse(status: .notFound)),
        ]
        return DataFetcherConformance(
            exchanges: exchanges.filter { $0.request.url.lastPathComponent != path },
            unanswered: nil,
            impossible: DataRequest(url: URL(filePath: "/"))
        )
    }

    /// What the check finds wrong with a fetcher.
    private func violations(of fetcher: some DataFetcher, without path: String? = nil) async throws -> [String] {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance(without: path).check(fetcher)
        }
        return failure?.violations ?? []
    }

    @Test func aFetcherThatDoesAllItMustPasses() async throws {
        try await conformance().check(Example())
    }

    @Test func aWrongStatusIsFound() async throws {
        let found = try await violations(of: Example { response, _ in response.status = 202 })
        #expect(found.contains { $0.contains("must be answered with 404 Not Found, and was with 202 Accepted") })
    }

    @Test func aBodyThatIsNotWholeIsFound() async throws {
        let found = try await violations(of: Example { response, _ in response.body = response.body.prefix(16_384) })
        #expect(found.contains { $0.contains("20000 bytes exactly, and was with others (16384 bytes)") })
    }

    @Test func aMissingHeaderFieldIsFound() async throws {
        let found = try await violations(of: Example { response, _ in response.headerFields = [] })
        #expect(found.contains { $0.contains("must say “Content-Type: text/plain”, and says nothing") })
    }

    @Test func aBodyInAnAnswerToHeadIsFound() async throws {
        let found = try await violations(
            of: Example { response, request in
                if request.method == .head { response.body = Data("x".utf8) }
            }
        )
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("HEAD http://upstream.test/small") == true)
    }

    @Test func anotherRequestsAnswerIsFound() async throws {
        let earlier = Mutex<Data?>(nil)
        let found = try await violations(
            of: Example { response, _ in
                response.body = earlier.withLock { earlier in
                    defer { earlier = response.body }
                    return earlier ?? response.body
                }
            }
        )
        #expect(found.contains { $0.hasPrefix("Many at once:") })
    }

    @Test func cancellationThatIsIgnoredIsFound() async throws {
        let found = try await violations(of: Example(honoursCancellation: false))
        #expect(found.count == 3)
        #expect(
            found.first == "GET http://upstream.test/small must end as cancelled when its task is, and was answered."
        )
    }

    @Test func anImpossibleRequestThatIsAnsweredIsFound() async throws {
        let found = try await violations(of: Example(refusesTheImpossible: false))
        #expect(
            found == ["GET", "POST"].map { "\($0) file:/// cannot be asked, and was answered with 404 Not Found." }
        )
    }

    @Test func aFailureInThePlaceOfAnAnswerIsFound() async throws {
        let found = try await violations(of: StubDataFetcher(failing: .unreachable))
        #expect(found.contains { $0.contains("must be answered with 200 OK, and failed") })
    }

    @Test(arguments: [
        ("missing", "an answer of another status"), ("large", "a body of at least 16 KiB"), ("small", "a header field"),
    ])
    func aCheckThatCouldNotFindEverythingIsNoCheck(path: String, missing: String) async throws {
        #expect(try await violations(of: Example(), without: path).contains { $0.contains(missing) })
    }
}
