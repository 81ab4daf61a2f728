import InwardCore
import InwardTesting
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryWalkTests {
    /// The kinds of store: none, a working one, or one that sometimes fails.
    enum Store: CaseIterable { case none, sound, failing }

    @Test(arguments: Store.allCases, [MemoryLimit(), MemoryLimit(count: 2), .nothing])
    func freshReadsAreNeverOlderThanTheLastWriteAndListsAgree(store: Store, memory: MemoryLimit) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("freshReadsAreNeverOlderThanTheLastWriteAndListsAgree: \(store), \(memory.count), seed \(seed)")
        for turn in 0..<(Thoroughness.isExhaustive ? 20 : 1) {
            let walk = RemarkWalk(seed: seed &+ UInt64(turn))
            try await run(walk, store, memory)
            #expect(walk.violations.isEmpty, "seed \(walk.seed)")
            // A walk without fresh readings would prove nothing.
            #expect(walk.freshReadingCount > 20, "seed \(walk.seed)")
        }
    }

    private func run(_ walk: RemarkWalk, _ store: Store, _ memory: MemoryLimit) async throws {
        let scheduler = walk.scheduler
        let source = walk.source()
        let now: @Sendable () -> Date = {
            Date(timeIntervalSinceReferenceDate: 8e8 + scheduler.clock.now.offset / .seconds(1))
        }
        let records = RecordingRecordStore(InMemoryRecordStore(now: now))
        let place = RepositoryStore(records, partition: ["ada"], now: now) { _ in }
        let make: @Sendable () throws -> Repository<Remark> = {
            try .remarks(
                source,
                scheduler.timer,
                lifetimes: Lifetimes(
                    staleAfter: .seconds(20),
                    staleWhileRevalidate: .seconds(10),
                    missingExpiresAfter: .seconds(5),
                    jitter: 0.5
                ),
                memory: memory,
                store: store == .none ? nil : place,
                whenAbandoned: walk.number(0..<2) == 0 ? .cancel : .finish,
                chance: { Double(walk.number(0..<100)) / 100 }
            )
        }
        let repository = try make()
        try await scheduler.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 { group.addTask { try await walk.read(repository) } }
                for id in 1...3 { group.addTask { try await walk.write(id, to: repository) } }
                group.addTask { try await walk.writeNew(to: repository) }
                group.addTask { try await walk.invalidate(repository) }
                if store == .failing { group.addTask { try await walk.disturb(records) } }
                try await group.waitForAll()
            }
            walk.becomeQuiet()
            try await walk.check(repository, source, "At the end")
        }
        try await scheduler.drain()
        try await scheduler.run { try await walk.check(repository, source, "After the refreshes") }
        // A failing store may have missed the last changes when the process ended.
        guard store != .failing else { return }
        try await scheduler.run {
            await repository.close()
            try await walk.check(make(), source, "After a restart")
        }
    }
}
