import InwardCore
import InwardTesting
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryInvalidationTests {
    private let source = RemarkSource()

    private func filled() async throws -> Repository<Remark> {
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()))
        _ = try await repository.entities(.author(7))
        _ = try await repository.entities(.author(8))
        return repository
    }

    /// Returns the entities and the authors' lists that are still cached.
    private func kept(in repository: Repository<Remark>) async -> [String] {
        var names: [String] = []
        for id in 1...3 where await repository.failure(id, .cacheOnly) == nil { names.append("\(id)") }
        for author in 7...8 where (try? await repository.entities(.author(author), .cacheOnly)) != nil {
            names.append("of \(author)")
        }
        return names
    }

    @Test func invalidatedEntityAndItsListsAreForgotten() async throws {
        let repository = try await filled()
        repository.invalidate(1)
        #expect(await kept(in: repository) == ["2", "3", "of 8"])
    }

    @Test func invalidatingAnOwnerForgetsItsEntities() async throws {
        let repository = try await filled()
        repository.invalidate(under: ["users", "7"])
        #expect(await kept(in: repository) == ["3", "of 8"])
    }

    @Test func emptyListOfAnOwnerIsForgotten() async throws {
        let repository = try await filled()
        _ = try await repository.entities(.author(9))
        repository.invalidate(under: ["users", "9"])
        #expect((try? await repository.entities(.author(9), .cacheOnly)) == nil)
        #expect(await kept(in: repository) == ["1", "2", "3", "of 7", "of 8"])
    }

    @Test(arguments: [[], ["remarks"]])
    func invalidatingEverythingForgetsEverything(key: RecordKey) async throws {
        let repository = try await filled()
        repository.invalidate(under: key)
        #expect(await kept(in: repository).isEmpty)
    }

    @Test func entitiesOfOtherOwnersAreNotForgotten() async throws {
        let repository = try await filled()
        _ = try await repository.entities()
        repository.invalidate(under: ["users", "77"])
        repository.invalidate(under: ["rem"])
        repository.invalidate(77)
        #expect(await kept(in: repository) == ["1", "2", "3", "of 7", "of 8"])
        #expect(try await repository.entities(.all, .cacheOnly).value.count == 3)
    }

    @Test func invalidatingAnOwnerForgetsMissingEntities() async throws {
        let repository = try await filled()
        #expect(await repository.failure(4) == .notFound)
        source.put(Remark(id: 4, author: 7, text: "four"))
        repository.invalidate(2)
        #expect(await repository.failure(4) == .notFound)
        repository.invalidate(under: ["users", "7"])
        #expect(try await repository.entity(4).value.text == "four")
    }

    @Test func fetchBegunBeforeAnInvalidationIsNeitherCachedNorJoined() async throws {
        let (isReleased, begun) = (Promise<Void>(), Rendezvous(of: 2))
        let source = RemarkSource.holdingTheFirstAnswer(begun: begun, until: isReleased)
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()))
        async let older = repository.entity(1)
        await begun.arrive()
        repository.invalidate(under: ["users", "7"])
        source.put(Remark(id: 1, author: 7, text: "anew"))
        #expect(try await repository.entity(1).value.text == "anew")
        repository.invalidateAll()
        isReleased.fulfill(())
        #expect(try await older.value.text == "one")
        #expect(await repository.failure(1, .cacheOnly) == .unavailable)
    }

    @Test func storeReadBegunBeforeAnInvalidationIsNotJoined() async throws {
        let (isReleased, begun, once) = (Promise<Void>(), Rendezvous(of: 2), Once())
        let store = HeldRecordStore(base: InMemoryRecordStore()) {
            guard once.isFirst() else { return }
            await begun.arrive()
            _ = await isReleased.value()
        }
        let place = RepositoryStore(store, partition: []) {
            Date(timeIntervalSinceReferenceDate: 0)
        } reportFailure: { _ in
        }
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), store: place)
        async let older = repository.entity(1)
        await begun.arrive()
        repository.invalidateAll()
        #expect(try await repository.entity(1).value.text == "one")
        isReleased.fulfill(())
        _ = try await older
    }
}
