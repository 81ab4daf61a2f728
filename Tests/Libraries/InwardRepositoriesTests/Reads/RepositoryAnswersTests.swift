import InwardCore
import InwardTesting
import Testing

@testable import InwardRepositories

struct RepositoryAnswersTests {
    private let source = RemarkSource()

    private func repository() throws -> Repository<Remark> { try .remarks(source, TimerService(ManualClock())) }

    @Test func responseThatIsNotAListIsUnreadable() async throws {
        source.answer(body: "{}")
        let repository = try repository()
        let error = await #expect(throws: RepositoryError.self) { try await repository.entities() }
        #expect(error?.reason == .unreadable)
        #expect(error?.request == "GET http://upstream.test/api/remarks")
        #expect(error?.explanation == "has a response that cannot be used: it is not a list")
    }

    @Test func invalidEntityIsUnreadableAndNamesItsField() async throws {
        source.answer(body: #"{"id": 1, "text": "one"}"#)
        let repository = try repository()
        let error = await #expect(throws: RepositoryError.self) { try await repository.entity(1) }
        #expect(error?.reason == .unreadable)
        #expect(error?.request == "GET http://upstream.test/api/remarks/1")
        #expect(error?.explanation == "has a response that cannot be used: its field “author” is missing")
    }

    @Test func recordWithAnotherIdentifierIsUnreadable() async throws {
        source.answer(body: #"{"id": 8, "author": 7, "text": "one"}"#)
        let repository = try repository()
        let error = await #expect(throws: RepositoryError.self) { try await repository.entity(7) }
        #expect(error?.reason == .unreadable)
        let explanation = "returned a record with another identifier: 8"
        #expect(error?.description == "GET http://upstream.test/api/remarks/7 \(explanation)")
    }

    @Test func damagedRecordsAreNamedWithTheValidOnes() async throws {
        source.answer(body: #"[{"id": 1, "author": 7, "text": "one"}, {"id": 2, "author": 7}]"#)
        let repository = try repository()
        for origin in [Origin.upstream, .memory] {
            let reading = try await repository.entities()
            #expect(reading.origin == origin)
            #expect(reading.value.map(\.id) == [1])
            #expect(reading.rejected.map(\.description) == ["remarks[1].text is missing"])
        }
    }
}
