import InwardCore
import InwardFetching
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryAgreementTests {
    private let clock = ManualClock()
    private let source = RemarkSource()

    private func repository(_ source: any DataFetcher, memory: MemoryLimit = MemoryLimit()) throws -> Repository<Remark>
    {
        try .remarks(source, TimerService(clock), memory: memory)
    }

    private func repository() throws -> Repository<Remark> { try repository(source) }

    /// Returns an upstream that holds its first response to a `GET`.
    private func heldSource(until isReleased: Promise<Void>, begun: Rendezvous) -> RemarkSource {
        let isFirst = Once()
        return RemarkSource { _ in
        } departure: { request in
            guard request.method == .get, isFirst.isFirst() else { return }
            await begun.arrive()
            _ = await isReleased.value()
        }
    }

    private func texts(_ repository: Repository<Remark>, _ filter: EntityFilter<Remark> = .all) async throws -> [String]
    {
        try await repository.entities(filter).value.map(\.text)
    }

    // MARK: Entities and lists

    @Test func listCachesItsEntities() async throws {
        let repository = try repository()
        _ = try await repository.entities(.author(7))
        #expect(try await repository.entity(2).origin == .memory)
        #expect(await repository.failure(3, .cacheOnly) == .unavailable)
        #expect(source.requests.count == 1)
        #expect(source.requests.first?.url.query() == "author=7")
    }

    @Test(arguments: [Duration.seconds(1), .zero])
    func newerEntityAppearsInLists(later: Duration) async throws {
        let repository = try repository()
        _ = try await repository.entities()
        _ = try await repository.entities(.author(7))
        clock.advance(by: later)
        source.put(Remark(id: 1, author: 7, text: "anew"))
        _ = try await repository.entity(1, .upstreamOnly)
        #expect(try await texts(repository) == ["anew", "two", "three"])
        #expect(try await texts(repository, .author(7)) == ["anew", "two"])
        #expect(source.requests.count == 3)
    }

    @Test func newerEntityLeavesListsThatItNoLongerBelongsIn() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        _ = try await repository.entities(.author(7))
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 1, author: 8, text: "moved"))
        _ = try await repository.entity(1, .upstreamOnly)
        #expect(try await texts(repository) == ["moved", "two", "three"])
        #expect(try await texts(repository, .author(7)) == ["two"])
    }

    @Test func missingEntityIsRemovedFromLists() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        clock.advance(by: .seconds(1))
        source.remove(2)
        #expect(await repository.failure(2, .upstreamOnly) == .notFound)
        #expect(try await texts(repository) == ["one", "three"])
        #expect(source.requests.count == 2)
    }

    @Test func newerListUpdatesOtherListsAndEntities() async throws {
        let repository = try repository()
        _ = try await repository.entities(.author(7))
        _ = try await repository.entities(.author(8))
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 1, author: 7, text: "anew"))
        source.put(Remark(id: 2, author: 8, text: "moved"))
        #expect(try await texts(repository) == ["anew", "moved", "three"])
        #expect(try await texts(repository, .author(7)) == ["anew"])
        #expect(try await repository.entity(2).value.text == "moved")
        #expect(source.requests.count == 3)
    }

    @Test func lastOfTwoListsRequestedTogetherWins() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        source.put(Remark(id: 1, author: 7, text: "anew"))
        source.put(Remark(id: 4, author: 7, text: "four"))
        source.remove(2)
        _ = try await repository.entities(.all, .upstreamOnly)
        #expect(try await texts(repository) == ["anew", "three", "four"])
        #expect(source.requests.count == 2)
    }

    @Test func olderListDoesNotReplaceNewerEntities() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.entities(.author(7))
        await begun.arrive()
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 1, author: 7, text: "anew"))
        source.put(Remark(id: 2, author: 8, text: "moved"))
        source.put(Remark(id: 4, author: 7, text: "four"))
        for id in [1, 2] { _ = try await repository.entity(id) }
        isReleased.fulfill(())
        #expect(try await older.value.map(\.text) == ["anew"])
        #expect(try await texts(repository, .author(7)) == ["anew"])
        #expect(try await repository.entity(1).value.text == "anew")
        #expect(try await repository.entity(2).value.text == "moved")
    }

    @Test func olderListDoesNotReplaceANewerList() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.entities()
        await begun.arrive()
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 4, author: 7, text: "four"))
        _ = try await repository.entities(.all, .upstreamOnly)
        isReleased.fulfill(())
        _ = try await older
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
        #expect(source.requests.count == 2)
    }

    @Test func olderResponseDoesNotReplaceANewerOne() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.entity(1)
        await begun.arrive()
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 1, author: 7, text: "anew"))
        _ = try await repository.entity(1, .upstreamOnly)
        isReleased.fulfill(())
        #expect(try await older.value.text == "one")
        #expect(try await repository.entity(1).value.text == "anew")
        #expect(source.requests.count == 2)
    }

    @Test func olderAbsenceDoesNotReplaceANewerEntity() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.failure(4)
        await begun.arrive()
        clock.advance(by: .seconds(1))
        source.put(Remark(id: 4, author: 7, text: "four"))
        _ = try await repository.entity(4, .upstreamOnly)
        isReleased.fulfill(())
        #expect(await older == .notFound)
        #expect(try await repository.entity(4).value.text == "four")
    }

    @Test func cachedListNamesDamagedRecords() async throws {
        let repository = try repository()
        source.answer(body: #"[{"id": 1, "author": 7, "text": "one"}, {"id": 2}]"#)
        let readings = [try await repository.entities(), try await repository.entities()]
        #expect(readings.map(\.origin) == [.upstream, .memory])
        #expect(readings.map { $0.rejected.map(\.position) } == [[1], [1]])
    }

    @Test func responseWithAnotherIdentifierIsNotCached() async throws {
        let repository = try repository()
        source.answer(body: #"{"id": 2, "author": 7, "text": "two"}"#)
        #expect(await repository.failure(1) == .unreadable)
        #expect(await repository.failure(1, .cacheOnly) == .unavailable)
        #expect(await repository.failure(2, .cacheOnly) == .unavailable)
    }

    // MARK: Writes

    @Test func writtenEntityIsInEveryListThatItBelongsIn() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        _ = try await repository.entities(.author(7))
        _ = try await repository.entities(.author(8))
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
        #expect(try await texts(repository, .author(7)) == ["one", "two", "four"])
        #expect(try await texts(repository, .author(8)) == ["three"])
        _ = try await repository.send(Remark(id: 4, author: 8, text: "moved"))
        #expect(try await texts(repository, .author(7)) == ["one", "two"])
        #expect(try await texts(repository, .author(8)) == ["three", "moved"])
        #expect(try await repository.entity(4).value.text == "moved")
        #expect(source.requests.count == 5)
    }

    @Test(arguments: [MemoryLimit(), MemoryLimit(count: 1)])
    func readFromBeforeAWriteDoesNotRestoreTheOldValue(memory: MemoryLimit) async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source, memory: memory)
        async let older = repository.entity(1)
        await begun.arrive()
        _ = try await repository.send(Remark(id: 1, author: 7, text: "written"))
        // If memory has room for one entity only, the written one is evicted by now.
        _ = try await repository.send(Remark(id: 5, author: 7, text: "five"))
        isReleased.fulfill(())
        _ = try await older
        #expect(try await repository.entity(1).value.text == "written")
    }

    @Test func listRequestedBeforeAWriteIsNotCached() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.entities()
        await begun.arrive()
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        // New readers do not join the request.
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
        isReleased.fulfill(())
        #expect(try await older.value.count == 3)
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
        #expect(source.requests.count == 3)
    }

    @Test func absenceRequestedBeforeAWriteIsNotCached() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source, memory: MemoryLimit(count: 1))
        async let older = repository.failure(4)
        await begun.arrive()
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        isReleased.fulfill(())
        #expect(await older == .notFound)
        #expect(try await repository.entity(4).value.text == "four")
    }

    @Test(arguments: [FetchError.Reason.interrupted, .cancelled])
    func uncertainWriteForgetsListsAndAbsences(reason: FetchError.Reason) async throws {
        let repository = try repository()
        _ = try await repository.entities()
        #expect(await repository.failure(4) == .notFound)
        source.fail(reason)
        await #expect(throws: RepositoryError.self) {
            _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        }
        source.fail(nil)
        source.put(Remark(id: 4, author: 7, text: "four"))
        // The entity is read before the list, because the list would cache it.
        #expect(try await repository.entity(4).value.text == "four")
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
        #expect(source.requests.count == 5)
    }

    @Test(arguments: [FetchError.Reason.interrupted, .cancelled])
    func listRequestedBeforeAnUncertainWriteIsNotCached(reason: FetchError.Reason) async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = heldSource(until: isReleased, begun: begun)
        let repository = try repository(source)
        async let older = repository.entities()
        await begun.arrive()
        source.fail(reason)
        await #expect(throws: RepositoryError.self) {
            _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        }
        source.fail(nil)
        source.put(Remark(id: 4, author: 7, text: "four"))
        isReleased.fulfill(())
        #expect(try await older.value.count == 3)
        #expect(try await texts(repository) == ["one", "two", "three", "four"])
    }

    @Test func refusedWriteForgetsNothing() async throws {
        let repository = try repository()
        _ = try await repository.entities()
        source.answer(status: 422)
        await #expect(throws: RepositoryError.self) {
            _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        }
        #expect(try await repository.entities().origin == .memory)
    }
}
