import InwardTesting
import Testing
import UseCases

@testable import InterfaceAdapters

@Suite(.timeLimit(.minutes(5)))
struct RepositoryMemoryTests {
    private let source = RemarkSource()

    private func keptCount(_ limit: MemoryLimit, of count: Int) async throws -> Int {
        for id in 1...count { source.put(Remark(id: id, author: 7, text: "text")) }
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), memory: limit)
        for id in 1...count { _ = try await repository.entity(id) }
        var kept = 0
        for id in 1...count where await repository.failure(id, .local) == nil { kept += 1 }
        return kept
    }

    @Test func noMoreEntitiesAreKeptThanThereIsRoomFor() async throws {
        #expect(try await keptCount(MemoryLimit(count: 3), of: 10) == 3)
        #expect(try await keptCount(.nothing, of: 10) == 0)
    }

    @Test func noMoreBytesAreKeptThanThereIsRoomFor() async throws {
        // An answer such as {"author":7,"id":1,"text":"text"} has 33 bytes.
        #expect(try await keptCount(MemoryLimit(bytes: 16 * 99), of: 200) <= 48)
        #expect(try await keptCount(MemoryLimit(count: 10, bytes: 99), of: 9) == 3)
    }

    @Test func noMoreListsAreKeptThanThereIsRoomFor() async throws {
        let repository = try Repository<Remark>.remarks(
            source,
            TimerService(ManualClock()),
            memory: MemoryLimit(count: 2)
        )
        for author in 7...10 { _ = try await repository.entities(.author(author)) }
        var kept: [Int] = []
        for author in 7...10 where (try? await repository.entities(.author(author), .local)) != nil {
            kept.append(author)
        }
        #expect(kept.count == 2)
    }

    @Test func aCacheInPartsKeepsToItsLimits() {
        let cache = ShardedCache<Int, Int>(MemoryLimit(count: 4_096, bytes: 8_192))
        for key in 0..<20_000 { cache.insert(key, for: key, cost: 1) }
        #expect(cache.count <= 4_096 && cache.count > 3_000)
        for key in 0..<20_000 { cache.insert(key, for: key, cost: 8) }
        #expect(cache.count <= 1_024 && cache.count > 900)
    }
}
