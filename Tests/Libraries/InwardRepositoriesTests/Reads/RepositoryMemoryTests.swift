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
struct RepositoryMemoryTests {
    private let source = RemarkSource()

    private func keptCount(_ limit: MemoryLimit, of count: Int) async throws -> Int {
        for id in 1...count { source.put(Remark(id: id, author: 7, text: "text")) }
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), memory: limit)
        for id in 1...count { _ = try await repository.entity(id) }
        var kept = 0
        for id in 1...count where await repository.failure(id, .cacheOnly) == nil { kept += 1 }
        return kept
    }

    @Test func entityCountIsLimited() async throws {
        #expect(try await keptCount(MemoryLimit(count: 3), of: 10) == 3)
        #expect(try await keptCount(.nothing, of: 10) == 0)
    }

    @Test func byteCountIsLimited() async throws {
        // A response such as {"author":7,"id":1,"text":"text"} has 33 bytes.
        #expect(try await keptCount(MemoryLimit(bytes: 16 * 99), of: 200) <= 48)
        #expect(try await keptCount(MemoryLimit(count: 10, bytes: 99), of: 9) == 3)
    }

    @Test func missingEntityTakesNoBytes() async throws {
        let limit = MemoryLimit(count: 20, bytes: 10)
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), memory: limit)
        for id in 21...40 { #expect(await repository.failure(id) == .notFound) }
        for id in 21...40 { #expect(await repository.failure(id, .cacheOnly) == .notFound) }
        #expect(source.requests.count == 20)
    }

    @Test func deletedEntityTakesNoBytes() throws {
        let timer = TimerService(ManualClock())
        let memory = EntityMemory(
            try Repository<Remark>.remarks(source, timer).endpoint,
            limit: MemoryLimit(count: 20, bytes: 10),
            store: nil,
            timer: timer,
            chance: { 0 }
        )
        for id in 21...40 { memory.writeAbsence(of: id, time: .zero) }
        #expect(memory.entities.count == 20)
    }

    @Test func expiredListMayContainAnyEntity() throws {
        let clock = ManualClock()
        let memory = EntityMemory(
            try Repository<Remark>.remarks(source, TimerService(clock)).endpoint,
            limit: MemoryLimit(),
            store: nil,
            timer: TimerService(clock),
            chance: { 0 }
        )
        let stamp = FetchStamp(tick: memory.begin(), time: .zero, age: .zero, byteCount: 0, isFromStore: false)
        memory.keep(EntityList([Remark(id: 1, author: 7, text: "one")], rejected: []), of: .all, stamp)
        #expect(memory.mayContain([1], in: .all) && !memory.mayContain([2], in: .all))
        clock.advance(by: Lifetimes().expiresAfter + .seconds(1))
        #expect(memory.mayContain([2], in: .all))
    }

    @Test func listCountIsLimited() async throws {
        let repository = try Repository<Remark>.remarks(
            source,
            TimerService(ManualClock()),
            memory: MemoryLimit(count: 2)
        )
        for author in 7...10 { _ = try await repository.entities(.author(author)) }
        var kept: [Int] = []
        for author in 7...10 where (try? await repository.entities(.author(author), .cacheOnly)) != nil {
            kept.append(author)
        }
        #expect(kept.count == 2)
    }

    /// Returns whether a list is still in memory after remarks were created, or changed a number of times.
    private func keepsList(_ limit: MemoryLimit, ids: ClosedRange<Int>, times: Int = 1) async throws -> Bool {
        let repository = try Repository<Remark>.remarks(RemarkSource(), TimerService(ManualClock()), memory: limit)
        _ = try await repository.entities()
        for _ in 0..<times {
            for id in ids { _ = try await repository.send(Remark(id: id, author: 7, text: "text")) }
        }
        return (try? await repository.entities(.all, .cacheOnly)) != nil
    }

    @Test func growingListCostsItsCurrentSize() async throws {
        // The list has 105 bytes, and each new remark at least 33.
        #expect(try await keepsList(MemoryLimit(bytes: 5_000), ids: 10...109))
        #expect(try await !keepsList(MemoryLimit(bytes: 2_000), ids: 10...109))
    }

    @Test func replacedEntityDoesNotRaiseTheCostOfAList() async throws {
        #expect(try await keepsList(MemoryLimit(bytes: 2_000), ids: 1...3, times: 100))
    }

    /// The only entity of a list costs the size of the whole response.
    @Test func entityCostsItsShareOfItsList() async throws {
        let limit = MemoryLimit(count: 10, bytes: 5_000)
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), memory: limit)
        var kept: [Int] = []
        for id in 11...12 {
            source.put(Remark(id: id, author: id, text: String(repeating: "x", count: 3_000)))
            _ = try await repository.entities(.author(id))
        }
        for id in 11...12 where await repository.failure(id, .cacheOnly) == nil { kept.append(id) }
        #expect(kept == [12])
    }

    @Test func listCostChangesWithRefetchedEntities() async throws {
        let limit = MemoryLimit(bytes: 5_000)
        let repository = try Repository<Remark>.remarks(source, TimerService(ManualClock()), memory: limit)
        _ = try await repository.entities()
        for id in 1...3 {
            source.put(Remark(id: id, author: 7, text: String(repeating: "x", count: 1_800)))
            _ = try await repository.entity(id, .upstreamOnly)
        }
        #expect((try? await repository.entities(.all, .cacheOnly)) == nil)
    }

    /// Only fetches in flight need to know of changes since they began.
    @Test func changesAreLoggedOnlyDuringFetches() async throws {
        let isReleased = Promise<Void>()
        let begun = Rendezvous(of: 2)
        let source = RemarkSource { request in
            guard request.url.lastPathComponent == "3" else { return }
            await begun.arrive()
            _ = await isReleased.value()
        }
        let place = RepositoryStore(InMemoryRecordStore(), partition: [], now: { Date() }, reportFailure: { _ in })
        let timer = TimerService(ManualClock())
        let first = try Repository<Remark>.remarks(source, timer, store: place)
        for repository in [first, try Repository<Remark>.remarks(source, timer, store: place)] {
            _ = try await repository.entity(1)
            _ = try await repository.entities()
            _ = try? await repository.entity(4)
            repository.invalidate(2)
            #expect(repository.memory.changeCount == 0)
            await repository.flush()
        }
        async let slow = first.entity(3, .upstreamOnly)
        await begun.arrive()
        first.invalidate(2)
        #expect(first.memory.changeCount == 1)
        isReleased.fulfill(())
        #expect(try await slow.value.text == "three")
        #expect(first.memory.changeCount == 0)
    }

    /// Otherwise, an observer could join a request from before the change and show its outdated response.
    @Test func requestsAreDetachedBeforeObserversAreNotified() throws {
        let timer = TimerService(ManualClock())
        let endpoint = try Repository<Remark>.remarks(source, timer).endpoint
        let changes: [(EntityMemory<Remark>) -> Void] = [
            { $0.write(Remark(id: 7, author: 7, text: "seven"), time: .zero, byteCount: 1) },
            { $0.writeAbsence(of: 7, time: .zero) }, { $0.forget(7) }, { $0.forgetLists() }, { $0.invalidate([]) },
        ]
        for change in changes {
            let observers = RepositoryObservers<Remark>()
            let list = observers.lists.observe(.all)
            let leaving = Journal()
            let memory = EntityMemory(
                endpoint,
                limit: MemoryLimit(),
                store: nil,
                timer: timer,
                chance: { 0 },
                notifying: observers
            ) {
                leaving.add(list.signal.isSet ? "too late" : "before")
            }
            change(memory)
            #expect(leaving.entries == ["before"])
            #expect(list.signal.isSet)
        }
    }

    @Test func appendingToAListDoesNotCopyIt() throws {
        let endpoint = try Repository<Remark>.remarks(source, TimerService(ManualClock())).endpoint
        let memory = EntityMemory(
            endpoint,
            limit: MemoryLimit(),
            store: nil,
            timer: TimerService(ManualClock()),
            chance: { 0 }
        )
        let tick = memory.begin()
        let stamp = FetchStamp(tick: tick, time: .zero, age: .zero, byteCount: 0, isFromStore: false)
        memory.keep(EntityList([], rejected: []), of: .all, stamp)
        memory.end(tick)
        var copyCount = 0
        var last: UInt?
        for id in 0..<5_000 {
            memory.write(Remark(id: id, author: 7, text: "text"), time: .zero, byteCount: 33)
            // `unsafe` is safe here: the test compares the address of the buffer and does not access it.
            let place = unsafe memory.list(.all)?.value.entities.withUnsafeBufferPointer { entities in
                UInt(bitPattern: entities.baseAddress)
            }
            if place != last { copyCount += 1 }
            last = place
        }
        #expect(memory.list(.all)?.value.entities.count == 5_000)
        #expect(copyCount < 50)
    }

    @Test(arguments: [(0, 1), (511, 1), (512, 2), (4_095, 15), (4_096, 16), (1_000_000, 16)])
    func shardHasRoomForAtLeast256Values(count: Int, parts: Int) {
        #expect(ShardedCache<Int, Int>(MemoryLimit(count: count)).shards.count == parts)
    }

    @Test func shardedCacheKeepsItsLimits() {
        let cache = ShardedCache<Int, Int>(MemoryLimit(count: 4_096, bytes: 8_192))
        for key in 0..<20_000 { cache.insert(key, for: key, cost: 1) }
        #expect(cache.count <= 4_096 && cache.count > 3_000)
        for key in 0..<20_000 { cache.insert(key, for: key, cost: 8) }
        #expect(cache.count <= 1_024 && cache.count > 900)
    }
}
