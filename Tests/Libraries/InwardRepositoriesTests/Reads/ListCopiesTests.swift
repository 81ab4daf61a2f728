import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct ListCopiesTests {
    typealias Change = @Sendable (EntityMemory<Remark>) -> Void

    private static let changes: [(name: String, ids: [Int]?, change: Change)] = [
        ("write", [1, 7], { $0.write(Remark(id: 7, author: 9, text: "seven"), time: .zero, byteCount: 1) }),
        ("writeAbsence", [], { $0.writeAbsence(of: 1, time: .zero) }),
        ("forget", nil, { $0.forget(7) }),
        ("forgetLists", nil, { $0.forgetLists() }),
        ("invalidate", nil, { $0.invalidate([]) }),
        ("keep", [1, 2], { $0.keep(ids: [1, 2]) }),
        ("keepAbsence", [], { $0.keepAbsence(of: 1, .now($0)) }),
    ]

    private func makeMemory(
        _ records: (any RecordStore)? = nil,
        limit: MemoryLimit = MemoryLimit()
    ) throws -> EntityMemory<Remark> {
        let timer = TimerService(ManualClock())
        let endpoint = try Repository<Remark>.remarks(RemarkSource(), timer).endpoint
        let store = records.map { records in
            let place = RepositoryStore(records, partition: [], now: { Date() }) { Issue.record($0) }
            return EntityStore(endpoint, in: place)
        }
        return EntityMemory(endpoint, limit: limit, store: store, timer: timer, chance: { 0 })
    }

    @Test(arguments: changes.indices)
    func changeRemovesTheCopiesOfAllThreads(number: Int) throws {
        let (name, ids, change) = Self.changes[number]
        let memory = try makeMemory()
        memory.keep(ids: [1])
        let answer = try #require(memory.list(.all))
        memory.lists.copies.withEachLock { $0.insert(answer, for: .all) }
        change(memory)
        memory.lists.copies.withEachLock { #expect($0.count == 0, "\(name) leaves a copy.") }
        #expect(memory.list(.all)?.value.entities.map(\.id) == ids, "after \(name)")
    }

    @Test func fetchedEntityIsInTheNextListOfAllThreads() throws {
        let memory = try makeMemory()
        memory.keep(ids: [1])
        let answer = try #require(memory.list(.all))
        memory.lists.copies.withEachLock { $0.insert(answer, for: .all) }
        memory.keep(Remark(id: 1, author: 7, text: "new"), .now(memory))
        memory.lists.copies.withEachLock { #expect($0.count == 0) }
        #expect(memory.list(.all)?.value.entities.map(\.text) == ["new"])
    }

    @Test func readerNeverGetsAListFromBeforeAWriteThatHasEnded() async throws {
        final class Progress: Sendable { let written = Atomic(0) }
        let memory = try makeMemory()
        memory.keep(ids: [1])
        let progress = Progress()
        let last = Thoroughness.isExhaustive ? 60_000 : 6_000
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    while true {
                        let least = progress.written.load(ordering: .acquiring)
                        let text = memory.list(.all)?.value.entities.first?.text ?? ""
                        // The text is not a number before the first write.
                        guard Int(text) ?? 0 >= least else {
                            Issue.record("After write \(least), the list has the text “\(text)”.")
                            return
                        }
                        if least == last { return }
                    }
                }
            }
            for number in 1...last {
                memory.write(Remark(id: 1, author: 7, text: "\(number)"), time: .zero, byteCount: 1)
                progress.written.store(number, ordering: .releasing)
            }
        }
    }

    @Test func listReadDuringASettlementIsStoredByTheNextRead() async throws {
        let records = InMemoryRecordStore()
        let memory = try makeMemory(records)
        let store = EntityStore(memory.endpoint, in: RepositoryStore(records, partition: [], now: { Date() }) { _ in })
        memory.keep(ids: [1])
        try await memory.prepareSettlement(of: 2, "key", 0)
        memory.write(Remark(id: 2, author: 7, text: "two"), time: .zero, byteCount: 1)
        #expect(memory.list(.all)?.value.entities.map(\.id) == [1, 2])
        _ = await memory.store?.writer.flush()
        #expect(try await store.list(.all) == nil)
        memory.endSettlement(of: "key")
        #expect(memory.list(.all)?.value.entities.map(\.id) == [1, 2])
        _ = await memory.store?.writer.flush()
        #expect(try await store.list(.all)?.value.entities.map(\.id) == [1, 2])
    }

    /// The last reference to what a filter captures may be released here, and its deinitializer may read the repository.
    @Test func filterIsReleasedWithoutALock() throws {
        final class Reader: Sendable {
            let memory: EntityMemory<Remark>

            init(_ memory: EntityMemory<Remark>) { self.memory = memory }

            deinit { _ = memory.list(.all) }
        }
        let memory = try makeMemory(limit: MemoryLimit(bytes: 1_000))
        func filter() -> EntityFilter<Remark> {
            let reader = Reader(memory)
            return EntityFilter<Remark>("name", "new") { _ in withExtendedLifetime(reader) { true } }
        }
        func cache() {
            memory.keep(EntityList([], rejected: []), of: filter(), .now(memory))
            // The copy is kept under the filter of the cached list, not under that of its reader.
            #expect(memory.list(filter()) != nil)
        }
        for (_, _, change) in Self.changes {
            cache()
            change(memory)
            cache()
        }
        // Evicts the list, which grows too large.
        memory.write(Remark(id: 7, author: 7, text: "seven"), time: .zero, byteCount: 2_000)
        #expect(memory.lists.all.isEmpty)
    }

    @Test func listThatIsReadOftenGetsAnArrayOfItsOwn() throws {
        let memory = try makeMemory()
        memory.keep(ids: [1, 2])
        let shared = try #require(memory.list(.all))
        var copies = ListCopies<Remark>()
        copies.insert(shared, for: .all)
        let places = (0..<100).map { _ in copies.answer(for: .all).map(place) }
        let own = try #require(places[99])
        #expect(own != place(shared))
        let first = try #require(places.firstIndex(of: own))
        #expect(first == ListCopies<Remark>.readsBeforeOwnArray - 1)
        #expect(places[first...].allSatisfy { $0 == own } && places[..<first].allSatisfy { $0 == place(shared) })
        #expect(copies.answer(for: .all)?.value.entities == shared.value.entities)
    }

    @Test func largeListKeepsTheSharedArray() throws {
        let memory = try makeMemory()
        memory.keep(ids: Array(1...1_000))
        let shared = try #require(memory.list(.all))
        var copies = ListCopies<Remark>()
        copies.insert(shared, for: .all)
        for _ in 0..<100 { #expect(copies.answer(for: .all).map(place) == place(shared)) }
    }

    @Test func sixteenListsGetArraysUntilTheNextChange() throws {
        let memory = try makeMemory()
        memory.keep(ids: [1])
        let shared = try #require(memory.list(.all))
        var copies = ListCopies<Remark>()
        for _ in 0..<2 {
            for author in 0..<20 {
                copies.insert(shared, for: .author(author))
                for _ in 0..<100 { _ = copies.answer(for: .author(author)) }
            }
            let own = (0..<20).filter { copies.answer(for: .author($0)).map(place) != place(shared) }
            #expect(own == Array(0..<16))
            copies.removeAll()
            #expect(copies.count == 0)
        }
    }

    @Test func numberOfListsIsLimited() throws {
        let memory = try makeMemory()
        memory.keep(ids: [1])
        let shared = try #require(memory.list(.all))
        var copies = ListCopies<Remark>()
        for author in 0..<1_000 { copies.insert(shared, for: .author(author)) }
        #expect(copies.count == 256)
        #expect(copies.answer(for: .author(255)) != nil && copies.answer(for: .author(256)) == nil)
    }

    private func place(_ answer: KeptAnswer<EntityList<Remark>>) -> UInt {
        // `unsafe` is safe here: the test compares the address of the buffer and does not access it.
        unsafe answer.value.entities.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
}

extension EntityMemory<Remark> {
    /// Caches a list of remarks by author 7.
    fileprivate func keep(ids: [Int]) {
        let remarks = ids.map { Remark(id: $0, author: 7, text: "text") }
        keep(EntityList(remarks, rejected: []), of: .all, .now(self))
    }
}

extension FetchStamp {
    /// The stamp of a fetch that began and ended just now.
    fileprivate static func now(_ memory: EntityMemory<Remark>) -> FetchStamp {
        let tick = memory.begin()
        defer { memory.end(tick) }
        return FetchStamp(tick: tick, time: .zero, age: .zero, byteCount: 0, isFromStore: false)
    }
}
