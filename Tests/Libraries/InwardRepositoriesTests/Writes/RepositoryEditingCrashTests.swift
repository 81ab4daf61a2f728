import InwardCore
import InwardFetching
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

/// Processes that create, update and delete are killed at every step, over a store that survives.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryEditingCrashTests {
    /// The writes that a process knows to be accepted.
    private struct Accepted {
        var creations = 0
        /// The number of updates of the created remark, and of the second one.
        var updatesOfCreated = 0
        var updates = 0
        var isDeleted = false
    }

    private final class World: Sendable {
        let stage: OutboxStage
        let source = VersionedSource()
        let store = InMemoryRecordStore(now: { OutboxStage.time })
        let accepted = Mutex(Accepted())
        private let update: Editing<Remark>.Update

        init(seed: UInt64, _ update: Editing<Remark>.Update, losingAnswers: Bool) {
            stage = OutboxStage(seed: seed)
            self.update = update
            source.honorKeys(losingFirstAnswers: losingAnswers)
        }

        /// A process that reads and writes until it is killed.
        func process(
            _ process: MortalProcess,
            keySeed: UInt64,
            _ body: (Repository<Remark>, Outbox) async throws -> Void
        ) async throws {
            let records = MortalRecordStore(base: store, process: process)
            let dataFetcher = MortalDataFetcher(base: source, process: process)
            let outbox = try stage.outbox(dataFetcher, store: records, keySeed: keySeed)
            let place = RepositoryStore(records, partition: ["kept"]) {
                OutboxStage.time
            } reportFailure: { _ in
            }
            let repository = try Repository.versioned(
                dataFetcher,
                Editing(update),
                store: place,
                outbox: outbox,
                timer: stage.timer
            )
            try? await outbox.open(handlers: [repository.handler])
            try await body(repository, outbox)
            await repository.close()
            await outbox.close()
        }

        /// Writes until the process is killed.
        func write(to repository: Repository<Remark>) async {
            _ = try? await repository.entities()
            _ = try? await repository.entity(2, .upstreamOnly)
            let draft = RemarkDTO(Remark(id: 0, author: 0, text: "new"))
            guard let created = try? await repository.create(draft).value else { return }
            accepted.withLock { $0.creations += 1 }
            for _ in 0..<2 {
                guard (try? await repository.update(created.id) { $0.author += 1 }) != nil else { return }
                accepted.withLock { $0.updatesOfCreated += 1 }
                guard (try? await repository.update(2) { $0.author += 1 }) != nil else { return }
                accepted.withLock { $0.updates += 1 }
            }
            guard (try? await repository.delete(3)) != nil else { return }
            accepted.withLock { $0.isDeleted = true }
        }

        /// Checks that every accepted write was done, and none twice. The process may have been killed before it learned of the
        /// last one.
        func checkUpstream(_ place: Comment) throws {
            let accepted = accepted.withLock(\.self)
            let created = source.remarks.filter { $0.text == "new" }
            #expect((accepted.creations...1).contains(created.count), place)
            let updates = (created.first?.author ?? 0, try #require(source.remark(2)).author - 7)
            #expect((accepted.updatesOfCreated...accepted.updatesOfCreated + 1).contains(updates.0), place)
            #expect((accepted.updates...accepted.updates + 1).contains(updates.1), place)
            if accepted.isDeleted { #expect(source.remark(3) == nil, place) }
        }

        /// Checks that cached reads equal the upstream's state.
        func checkCached(_ repository: Repository<Remark>, _ place: Comment) async throws {
            for id in 1...4 {
                do {
                    let reading = try await repository.entity(id, .cacheOnly)
                    #expect(reading.value == source.remark(id) && !reading.isPending, place)
                } catch {
                    // An entity that is not cached is unavailable, unless its absence is cached.
                    if error.reason == .notFound { #expect(source.remark(id) == nil, place) }
                }
            }
            if let list = try? await repository.entities(.all, .cacheOnly) {
                #expect(list.value.sorted { $0.id < $1.id } == source.remarks, place)
            }
        }
    }

    /// The kind of update, and whether answers are lost.
    private static let crashes: [(Editing<Remark>.Update, Bool)] = [
        (.put, false), (.put, true), (.patch, false), (.patch, true),
    ]

    @Test(arguments: Thoroughness.sample(crashes, every: 3))
    func acceptedWritesAreDoneOnceWhereverAProcessIsKilled(
        update: Editing<Remark>.Update,
        losesAnswers: Bool
    ) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var hasEnded = false
        var step = 0
        while !hasEnded {
            let place: Comment = "The seed was \(seed), the step \(step)."
            let world = World(seed: seed, update, losingAnswers: losesAnswers)
            let mortal = MortalProcess(steps: step)
            try await world.stage.scheduler.run {
                try await world.process(mortal, keySeed: 1) { repository, _ in
                    await world.write(to: repository)
                    try await world.stage.timer.sleep(for: .seconds(1_000))
                }
                try await world.process(MortalProcess(), keySeed: 2) { repository, outbox in
                    await outbox.drain()
                    try world.checkUpstream(place)
                    try await world.checkCached(repository, place)
                    #expect(try await outbox.contents().deadLetters.isEmpty, place)
                }
                try await world.process(MortalProcess(), keySeed: 3) { repository, outbox in
                    #expect(outbox.pending.isEmpty, place)
                    try await world.checkCached(repository, place)
                }
            }
            hasEnded = !mortal.isDead
            if hasEnded { #expect(world.accepted.withLock { $0.isDeleted && $0.updates == 2 }) }
            step += Thoroughness.stride(sampling: 7)
        }
        #expect(step > 60)
    }
}
