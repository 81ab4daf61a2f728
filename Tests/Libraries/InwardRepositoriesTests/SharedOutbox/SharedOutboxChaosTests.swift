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

/// Instances that are suspended, die and lose answers at random, over a store and an upstream that fail at random. The seed
/// determines everything.
@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxChaosTests {
    private static let subjects = 3

    /// Random decisions.
    private final class Chance: Sendable {
        private let generator: Mutex<SplitMix64>
        private let isOver = Mutex(false)

        init(seed: UInt64) { generator = Mutex(SplitMix64(seed: seed)) }

        /// Lets nothing happen from now on.
        func end() { isOver.withLock { $0 = true } }

        func happens(_ percent: Int) -> Bool {
            !isOver.withLock(\.self) && generator.withLock { Int.random(in: 0..<100, using: &$0) } < percent
        }

        func number(_ range: ClosedRange<Int>) -> Int { generator.withLock { Int.random(in: range, using: &$0) } }
    }

    /// A process that ends at a random moment.
    private final class Process: DataFetcher {
        let isDead = Mutex(false)
        private let upstream: IdempotentDataFetcher

        init(_ upstream: IdempotentDataFetcher) { self.upstream = upstream }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            try throwIfDead(request)
            let response = try await upstream.fetch(request)
            try throwIfDead(request)
            return response
        }

        private func throwIfDead(_ request: DataRequest) throws(FetchError) {
            guard isDead.withLock(\.self) else { return }
            throw FetchError(
                .interrupted,
                request: request,
                explanation: "was not answered, because the process is dead"
            )
        }

        /// Returns the store as the process sees it.
        func store(_ stage: SharedOutboxStage, _ chance: Chance, _ journal: AcceptanceJournal) -> GatedSharedStore {
            GatedSharedStore(stage.store) { operation, moment throws(RecordStoreError) in
                if moment == .after { journal.add(operation) }
                // Some pauses are longer than a lease.
                if chance.happens(4) { try? await stage.timer.sleep(for: .seconds(chance.number(0...90))) }
                if chance.happens(1) { self.isDead.withLock { $0 = true } }
                if self.isDead.withLock(\.self) {
                    throw RecordStoreError(.unavailable, explanation: "The process is dead.")
                }
                guard chance.happens(3) else { return }
                throw moment == .before
                    ? RecordStoreError(.unavailable, explanation: "The store failed.")
                    : RecordStoreError(.outcomeUnknown, explanation: "The store did not answer.")
            }
        }
    }

    /// The bodies of the writes of each subject, in the order in which the store has accepted them.
    private final class AcceptanceJournal: Sendable {
        private let bodies = Mutex<[String: [String]]>([:])
        private let acknowledgments = Mutex<Set<String>>([])

        func add(_ operation: GatedSharedStore.Operation) {
            guard case .commit(let changes) = operation else { return }
            for case .keep(let record, let key) in changes where key.components.starts(with: ["outbox", "pending"]) {
                guard let entry = try? LaneEntryDTO.entry(from: record.bytes, number: 1, attempts: 0) else { continue }
                let body = String(decoding: entry.write.body ?? [], as: UTF8.self)
                bodies.withLock { $0[entry.write.path, default: []].append(body) }
            }
        }

        /// The bodies of the writes whose callers know that they were accepted.
        var acknowledged: Set<String> { acknowledgments.withLock(\.self) }

        func acknowledge(_ body: String) { acknowledgments.withLock { _ = $0.insert(body) } }

        subscript(path: String) -> [String] { bodies.withLock { $0[path] ?? [] } }
    }

    private static func upstream(_ stage: SharedOutboxStage, _ chance: Chance) -> IdempotentDataFetcher {
        IdempotentDataFetcher(
            timer: stage.timer,
            latency: { _ in .milliseconds(chance.number(0...2_000)) },
            workTime: { _ in .milliseconds(chance.happens(5) ? 25_000 : 0) },
            fate: { _ in
                if chance.happens(5) { return .lost }
                if chance.happens(5) { return .answerLost }
                if chance.happens(3) { return .turnedAway(DataResponse(status: 503)) }
                return chance.happens(2) ? .turnedAway(DataResponse(status: 422)) : .done
            }
        )
    }

    private func run(seed: UInt64) async throws -> (accepted: Int, deaths: Int) {
        let stage = SharedOutboxStage(seed: seed)
        let chance = Chance(seed: seed &+ 1)
        let upstream = Self.upstream(stage, chance)
        let journal = AcceptanceJournal()
        let last = try stage.outbox(upstream, keySeed: seed)
        let deaths = Counter()
        try await stage.scheduler.run {
            await withTaskGroup { group in
                for instance in 0..<3 {
                    group.addTask {
                        // Each process is followed by another one, until the last one survives.
                        for life in 0..<4 {
                            let process = Process(upstream)
                            let outbox = try? stage.outbox(
                                process,
                                store: process.store(stage, chance, journal),
                                keySeed: seed &+ UInt64(instance * 10 + life) &+ 100,
                                skew: .seconds(chance.number(-600...600))
                            )
                            guard let outbox else { return }
                            await withTaskGroup { lives in
                                lives.addTask { await outbox.run() }
                                for number in 0..<4 where !process.isDead.withLock(\.self) {
                                    let subject = chance.number(1...Self.subjects)
                                    let name = "\(instance)-\(life)-\(number)"
                                    let write = SharedOutboxStage.write(["\(subject)"], name)
                                    // If it fails, the process does not know whether the store has accepted the write.
                                    if (try? await outbox.accept([write], in: SharedOutboxStage.partition)) != nil {
                                        journal.acknowledge(name)
                                    }
                                    try? await stage.timer.sleep(for: .seconds(chance.number(0...20)))
                                }
                                if process.isDead.withLock(\.self) { deaths.add() }
                                process.isDead.withLock { $0 = $0 || life < 3 }
                                lives.cancelAll()
                            }
                        }
                    }
                }
                await group.waitForAll()
                chance.end()
                group.addTask { await last.run() }
                do { try await stage.untilDelivered(last) } catch { Issue.record("\(error) The seed was \(seed).") }
                group.cancelAll()
            }
        }
        let done = upstream.done.map(\.text)
        let letters = try await last.deadLetters(in: SharedOutboxStage.partition)
        let refused = letters.compactMap { $0.write?.body.map { String(decoding: $0, as: UTF8.self) } }
        let names = journal.acknowledged
        #expect(Set(done).count == done.count, "The seed was \(seed).")
        for subject in 1...Self.subjects {
            let stored = journal["\(subject)"]
            let inOrder = upstream.done.filter { $0.url.lastPathComponent == "\(subject)" }.map(\.text)
            #expect(inOrder == stored.filter { !refused.contains($0) }, "The seed was \(seed).")
            #expect(Set(inOrder).isDisjoint(with: refused), "The seed was \(seed).")
        }
        #expect(Set(done + refused).isSuperset(of: names), "The seed was \(seed).")
        #expect(try await stage.store.records(under: ["outbox", "heads"]).isEmpty)
        #expect(try await stage.store.records(under: ["outbox", "pending"]).isEmpty)
        #expect(try await stage.store.records(under: ["outbox", "notes"]).isEmpty, "The seed was \(seed).")
        return (names.count, deaths.value)
    }

    @Test func noWriteIsLostDoubledOrSentOutOfOrder() async throws {
        let first = UInt64.random(in: 0 ... .max)
        let seeds = (0..<(Thoroughness.isExhaustive ? 150 : 8)).map { first &+ $0 }
        var (accepted, deaths) = (0, 0)
        for seed in seeds {
            let run = try await run(seed: seed)
            accepted += run.accepted
            deaths += run.deaths
        }
        // The runs are not trivial.
        #expect(accepted > 15 * seeds.count && deaths >= seeds.count / 4, "The seeds began with \(first).")
    }
}
