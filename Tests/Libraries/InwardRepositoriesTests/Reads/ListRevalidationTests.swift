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

/// Revalidation of cached lists.
@Suite(.timeLimit(.minutes(5)))
struct ListRevalidationTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private let clock = ManualClock()
    private let source = RemarkSource()
    private let records = InMemoryRecordStore(now: { Self.day })

    private func repository(store: RepositoryStore? = nil) throws -> Repository<Remark> {
        try .remarks(source, TimerService(clock), lifetimes: Lifetimes(staleAfter: .seconds(60)), store: store)
    }

    /// Returns the store location at a number of seconds into the day.
    private func place(_ seconds: TimeInterval) -> RepositoryStore {
        RepositoryStore(records, partition: []) {
            Self.day.addingTimeInterval(seconds)
        } reportFailure: { _ in
        }
    }

    private func condition(_ name: HeaderField.Name = .ifNoneMatch) -> String? {
        source.requests.last?.headerFields[name]
    }

    /// Returns a repository with a stale list of all remarks.
    private func repositoryWithStaleList() async throws -> Repository<Remark> {
        source.send(.etag, #""v1""#)
        let repository = try repository()
        _ = try await repository.entities()
        clock.advance(by: .seconds(120))
        return repository
    }

    @Test(arguments: [
        (HeaderField.Name.etag, #""v1""#, HeaderField.Name.ifNoneMatch), (.etag, #"W/"v1""#, .ifNoneMatch),
        (.lastModified, "Wed, 25 Nov 2026 03:00:00 GMT", .ifModifiedSince),
    ])
    func unchangedListBecomesFresh(
        name: HeaderField.Name,
        value: String,
        asked: HeaderField.Name
    ) async throws {
        source.send(name, value)
        let repository = try repository()
        _ = try await repository.entities(.author(7))
        #expect(condition(asked) == nil)
        for count in 2...3 {
            clock.advance(by: .seconds(120))
            source.answer(status: .notModified, body: "")
            let reading = try await repository.entities(.author(7))
            #expect(reading == Reading(source.remarks.filter { $0.author == 7 }, origin: .upstream))
            #expect(condition(asked) == value && source.requests.count == count)
            #expect(try await repository.entities(.author(7)).origin == .memory)
            // Its entities are fresh again, too.
            #expect(try await repository.entity(1).origin == .memory)
            #expect(source.requests.count == count)
        }
    }

    @Test func notModifiedResponseWithoutAValidatorKeepsTheOldOne() async throws {
        let source = RecordingDataFetcher(
            StubDataFetcher { request throws(FetchError) in
                guard request.headerFields[.ifNoneMatch] == nil else { return DataResponse(status: .notModified) }
                let body = Data(#"[{"id": 1, "author": 7, "text": "one"}, {"id": 2}]"#.utf8)
                return DataResponse(headerFields: [HeaderField(.etag, #""v1""#)], body: body)
            }
        )
        let repository = try Repository.remarks(source, TimerService(clock))
        for _ in 1...3 {
            let reading = try await repository.entities(.all, .upstreamOnly)
            // The damaged record is still reported.
            #expect(reading.value.map(\.id) == [1] && reading.rejected.count == 1)
        }
        #expect(source.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, #""v1""#, #""v1""#])
    }

    @Test func changedListReplacesTheOldOne() async throws {
        let repository = try await repositoryWithStaleList()
        source.put(Remark(id: 4, author: 7, text: "four"))
        source.send(.etag, #""v2""#)
        #expect(try await repository.entities().value == source.remarks)
        _ = try await repository.entities(.all, .upstreamOnly)
        #expect(condition() == #""v2""#)
    }

    // MARK: Validators

    @Test func eachListHasItsValidatorAndItsEntitiesHaveNone() async throws {
        let repository = try await repositoryWithStaleList()
        source.send(.etag, #""author""#)
        _ = try await repository.entity(3, .upstreamOnly)
        #expect(condition() == nil)
        _ = try await repository.entities(.author(8), .upstreamOnly)
        #expect(condition() == nil)
        _ = try await repository.entities(.author(8), .upstreamOnly)
        #expect(condition() == #""author""#)
    }

    @Test func listWithANewerEntityIsFetchedWhole() async throws {
        let repository = try await repositoryWithStaleList()
        source.put(Remark(id: 2, author: 7, text: "new"))
        _ = try await repository.entity(2, .upstreamOnly)
        _ = try await repository.entities(.all, .upstreamOnly)
        #expect(condition() == nil)
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        _ = try await repository.entities(.all, .upstreamOnly)
        #expect(condition() == nil)
        _ = try await repository.entities(.all, .upstreamOnly)
        #expect(condition() == #""v1""#)
    }

    /// A list that arrives after a newer entity contains the newer entity.
    @Test func listThatArrivesAfterANewerEntityHasNoValidator() async throws {
        let repository = try await repositoryWithStaleList()
        _ = try await repository.entity(2, .upstreamOnly)
        for (time, isValidated) in [(clock.now.offset - .seconds(1), false), (clock.now.offset, true)] {
            let tick = repository.memory.begin()
            let stamp = FetchStamp(
                tick: tick,
                time: time,
                age: .zero,
                byteCount: 100,
                isFromStore: false,
                validator: Validator(text: #""v9""#)
            )
            repository.memory.keep(EntityList(source.remarks, rejected: []), of: .author(9), stamp)
            repository.memory.end(tick)
            #expect((repository.memory.validated(.author(9)) != nil) == isValidated)
        }
    }

    @Test func invalidatedListIsFetchedWhole() async throws {
        let repository = try await repositoryWithStaleList()
        repository.invalidateAll()
        _ = try await repository.entities()
        #expect(condition() == nil)
    }

    // MARK: Store

    @Test func laterProcessRevalidatesTheStoredList() async throws {
        source.send(.etag, #""v1""#)
        let first = try repository(store: place(0))
        _ = try await first.entities()
        await first.close()
        source.answer(status: .notModified, body: "")
        let second = try repository(store: place(120))
        #expect(try await second.entities().value == source.remarks)
        #expect(condition() == #""v1""#)
        await second.close()
        let third = try repository(store: place(130))
        #expect(try await third.entities().origin == .store)
        #expect(source.requests.count == 2)
    }

    @Test func listWhoseEntitiesWereStoredAgainIsFetchedWhole() async throws {
        source.send(.etag, #""v1""#)
        let first = try repository(store: place(0))
        _ = try await first.entities()
        await first.close()
        let second = try repository(store: place(10))
        _ = try await second.entity(2, .upstreamOnly)
        await second.close()
        let third = try repository(store: place(120))
        _ = try await third.entities()
        #expect(source.requests.count == 3 && condition() == nil)
        await third.close()
    }
}
