import InwardFetching
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct PostingDataSaverTests {
    private func saver(_ dataFetcher: any DataFetcher) throws -> PostingDataSaver {
        let url = try DataRequest.example("http://ada:p4ss@collector.test/errors?key=s3cret").url
        return PostingDataSaver(url: url, dataFetcher: dataFetcher)
    }

    @Test func dataIsPostedOnceUnchanged() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .created)))
        try await saver(source).save([0, 255, 10])
        let request = try #require(source.requests.first)
        #expect(source.requests.count == 1)
        #expect(request.method == .post)
        #expect(request.url.absoluteString == "http://ada:p4ss@collector.test/errors?key=s3cret")
        #expect(request.body == Data([0, 255, 10]))
        #expect(request.headerFields.map(\.description) == ["Content-Type: text/plain; charset=utf-8"])
    }

    @Test func contentTypeIsSent() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let url = try DataRequest.example().url
        try await PostingDataSaver(url: url, contentType: "application/json", dataFetcher: source).save([])
        #expect(source.requests.first?.headerFields[.contentType] == "application/json")
        #expect(source.requests.first?.body == Data())
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func everySuccessfulStatusIsASuccess(code: Int) async throws {
        try await saver(StubDataFetcher(DataResponse(status: .init(code)))).save([1])
    }

    @Test(arguments: [
        (302, "was answered with 302 Found"), (404, "was answered with 404 Not Found"),
        (503, "was answered with 503 Service Unavailable"),
    ])
    func otherStatusesAreErrors(code: Int, explanation: String) async throws {
        let saver = try saver(StubDataFetcher(DataResponse(status: .init(code))))
        let error = await #expect(throws: DataSaverError.self) { try await saver.save([1]) }
        #expect(error?.explanation == explanation)
        #expect(error?.destination == "POST http://collector.test/errors?key=…")
    }

    @Test func errorsDoNotContainCredentials() async throws {
        let saver = try saver(StubDataFetcher(failing: .unreachable, explanation: "failed with s3cret and p4ss"))
        let error = await #expect(throws: DataSaverError.self) { try await saver.save([1]) }
        #expect(error?.description == "POST http://collector.test/errors?key=… failed with … and …")
    }
}
