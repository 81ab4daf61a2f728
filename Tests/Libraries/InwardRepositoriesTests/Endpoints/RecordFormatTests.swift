import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RecordFormatTests {
    private struct Event: Identifiable, Hashable, Sendable {
        let id: String
        let beginsAt: Date
    }

    private struct EventDTO: RecordDTO {
        static let listName = "events"

        let eventId: String
        let beginsAt: Date

        init(_ event: Event) {
            eventId = event.id
            beginsAt = event.beginsAt
        }

        func entity() throws(FieldError) -> Event { Event(id: eventId, beginsAt: beginsAt) }
    }

    /// JSON with a percent sign in front, which is not valid JSON.
    private struct LineFormat: RecordFormat {
        let mediaType = "text/x-lines"

        func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
            guard bytes.first == UInt8(ascii: "%") else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no lines"))
            }
            return try JSONDecoder().decode(type, from: bytes.dropFirst())
        }

        func encode(_ value: some Encodable) throws -> Data { try Data("%".utf8) + JSONEncoder().encode(value) }
    }

    private let event = Event(id: "a", beginsAt: Date(timeIntervalSince1970: 0))
    private let snakeCase = JSONFormat {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    } encoder: {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private func repository(
        _ format: some RecordFormat,
        _ source: any DataFetcher,
        store: (any RecordStore)? = nil
    ) throws -> Repository<Event> {
        Repository(
            Endpoint(EventDTO.self, at: "events", format: format),
            upstream: try .example(source),
            store: store.map { RepositoryStore($0, partition: [], now: { Date() }, reportFailure: { _ in }) },
            timer: TimerService(ManualClock())
        )
    }

    private static let offline = StubDataFetcher { request throws(FetchError) in
        throw FetchError(.unreachable, request: request, explanation: "was not sent")
    }

    @Test func formatDeterminesFieldNamesAndDates() async throws {
        let body = Data(#"[{"event_id": "a", "begins_at": "1970-01-01T00:00:00Z"}]"#.utf8)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: body)))
        #expect(try await repository(snakeCase, source).entities().value == [event])
        #expect(source.requests.map { $0.headerFields[.accept] } == ["application/json"])
    }

    @Test func storeUsesTheFormat() async throws {
        let store = InMemoryRecordStore()
        let body = Data(#"[{"event_id": "a", "begins_at": "1970-01-01T00:00:00Z"}]"#.utf8)
        let first = try repository(snakeCase, StubDataFetcher(DataResponse(body: body)), store: store)
        _ = try await first.entities()
        await first.close()
        let next = try repository(snakeCase, Self.offline, store: store)
        #expect(try await next.entity("a", .cacheOnly).value == event)
    }

    @Test func requestsNameTheMediaTypeOfTheFormat() async throws {
        let body = try LineFormat().encode([EventDTO(event)])
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: body)))
        #expect(try await repository(LineFormat(), source).entities().value == [event])
        #expect(source.requests.map { $0.headerFields[.accept] } == ["text/x-lines"])
    }

    @Test(arguments: [("[]", "is not valid text/x-lines; it begins with “[]”"), ("", "is empty")])
    func errorQuotesABodyInAnotherFormat(body: String, problem: String) async throws {
        let repository = try repository(LineFormat(), StubDataFetcher(DataResponse(body: Data(body.utf8))))
        let error = await #expect(throws: RepositoryError.self) { try await repository.entities() }
        #expect(error?.reason == .unreadable && error?.explanation.contains(problem) == true)
    }

    @Test func valueThatIsNotAnEntityIsReadThroughTheUpstream() async throws {
        struct Report: Decodable, Equatable { let total: Int }
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data(#"{"total": 3}"#.utf8))))
        let upstream = try Upstream.example(source)
        let reading = try await upstream.value(Report.self, at: "events/report", query: [("year", "20 26")])
        #expect(reading.value == Report(total: 3) && reading.origin == .upstream && !reading.isStale)
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/events/report?year=20%2026"])
        #expect(source.requests.map { $0.headerFields[.accept] } == ["application/json"])
    }

    @Test(arguments: [
        ("events/../secrets", DataResponse(), RepositoryError.Reason.refused),
        ("events", DataResponse(status: 404), .notFound), ("events", DataResponse(body: Data("[]".utf8)), .unreadable),
    ])
    func unreadableValueIsAnError(
        path: String,
        answer: DataResponse,
        reason: RepositoryError.Reason
    ) async throws {
        struct Report: Decodable { let total: Int }
        let upstream = try Upstream.example(StubDataFetcher(answer))
        let error = await #expect(throws: RepositoryError.self) { try await upstream.value(Report.self, at: path) }
        #expect(error?.reason == reason)
    }
}
