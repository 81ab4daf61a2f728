import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests in which processes end at any step, over a store that outlives them and an upstream that honors idempotency keys.
@Suite(.timeLimit(.minutes(5)))
struct OutboxCrashTests {
    /// A series of processes over one store and one upstream.
    private final class World: Sendable {
        let stage: OutboxStage
        let store: any RecordStore
        let upstream: IdempotentDataFetcher
        /// The bodies of the accepted writes, by their subjects.
        let accepted = Mutex<[RecordKey: [String]]>([:])
        /// The number of refused writes that were discarded because an earlier attempt may have been done.
        let discarded = Mutex(0)

        /// Creates a world with an upstream that refuses bodies that contain `bad`.
        ///
        /// Without claims, a process can take over from one that is still running.
        init(
            seed: UInt64,
            hasClaims: Bool = true,
            fate: @escaping @Sendable (DataRequest) -> IdempotentDataFetcher.Fate = { _ in .done }
        ) {
            let stage = OutboxStage(seed: seed)
            self.stage = stage
            store = hasClaims ? stage.store : UnclaimedRecordStore(base: stage.store)
            upstream = IdempotentDataFetcher(timer: stage.timer, latency: { _ in .milliseconds(20) }, fate: fate) {
                DataResponse(status: $0.text.contains("bad") ? 422 : .created)
            }
        }

        func outbox(in process: MortalProcess, keySeed: UInt64) throws -> Outbox {
            try stage.outbox(
                MortalDataFetcher(base: upstream, process: process),
                store: MortalRecordStore(base: store, process: process),
                keySeed: keySeed
            )
        }

        /// Submits a write, and returns `false` if the process ended before it learned whether the write was accepted.
        func accept(_ subject: RecordKey, _ text: String, in outbox: Outbox) async -> Bool {
            let value = RecordChange.keep(StoredRecord(Array(text.utf8)), stage.handler.key(of: subject))
            do {
                try await outbox.accept([OutboxStage.write(subject, text)], with: [value])
                accepted.withLock { $0[subject, default: []].append(text) }
                return true
            } catch {
                return false
            }
        }

        /// Delivers the remaining writes in a process that does not end.
        func deliverTheRest(keySeed: UInt64) async throws {
            let last = try outbox(in: MortalProcess(), keySeed: keySeed)
            try await last.open(handlers: [stage.handler])
            // A write that is refused after an attempt that may have arrived stays pending until a person discards it.
            while last.status.pendingCount > 0 {
                try await stage.timer.sleep(for: .seconds(10_000))
                for item in try await last.contents().pending {
                    let text = String(decoding: item.write?.body ?? [], as: UTF8.self)
                    if item.state == .outcomeUnknown, text.contains("bad") {
                        #expect(try await last.discard(item.id))
                        discarded.withLock { $0 += 1 }
                    }
                }
            }
            await last.close()
            #expect(last.pending == [])
        }

        func check(_ place: Comment) async throws {
            let accepted = accepted.withLock(\.self)
            let requests = Dictionary(grouping: upstream.requests, by: \.text)
            for (text, requests) in requests {
                let keys = Set(requests.map { $0.headerFields[.idempotencyKey] })
                #expect(keys.count == 1, "\(text) had \(keys.count) keys. \(place)")
            }
            for (subject, texts) in accepted {
                let name = subject.components.joined(separator: "/")
                let done = upstream.done.filter { $0.url.lastPathComponent == name }.map(\.text)
                #expect(Set(done).count == done.count, "\(subject) was sent the same write twice: \(done). \(place)")
                // A process may have ended before it learned that a write was accepted.
                let known = Set(texts)
                let wanted = texts.filter { !$0.contains("bad") }
                #expect(done.filter { known.contains($0) } == wanted, "\(subject). \(place)")
                for text in texts { #expect(requests[text] != nil, "\(text) was never sent. \(place)") }
            }
            #expect(try await stage.store.records(under: ["outbox", "entries"]).isEmpty, place)
            #expect(try await stage.store.records(under: ["outbox", "attempts"]).isEmpty, place)
        }
    }

    @Test(arguments: [false, true]) func processThatEndsAtAnyStepLosesNothing(losesAnswers: Bool) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var hasEnded = false
        var step = 0
        while !hasEnded {
            let lost = Mutex<Set<String>>([])
            let world = World(seed: seed) { request in
                losesAnswers && lost.withLock({ $0.insert(request.text).inserted }) ? .answerLost : .done
            }
            let process = MortalProcess(steps: step)
            try await world.stage.scheduler.run {
                let outbox = try world.outbox(in: process, keySeed: 1)
                try? await outbox.open(handlers: [world.stage.handler])
                for (subject, text) in [("a", "1"), ("b", "bad"), ("a", "2"), ("c", "3"), ("a", "4")] {
                    _ = await world.accept([subject], text, in: outbox)
                }
                try await world.stage.timer.sleep(for: .seconds(100))
                await outbox.close()
                try await world.deliverTheRest(keySeed: 2)
            }
            try await world.check("The seed was \(seed), the step \(step).")
            let refusals = world.stage.errors.errors.filter { $0 is RefusedWriteError }.count
            hasEnded = !process.isDead
            if hasEnded {
                // If the first response was lost, the refusal is not final.
                #expect(refusals == (losesAnswers ? 0 : 1))
                #expect(world.discarded.withLock(\.self) == (losesAnswers ? 1 : 0))
                let accepted = world.accepted.withLock { $0.values.joined().count }
                #expect(accepted == 5)
                #expect(try await world.stage.values() == [["a"]: "4", ["c"]: "3"])
            }
            step += Thoroughness.stride(sampling: 9)
        }
        #expect(step > 60)
    }

    /// Writes concurrently in one process after the other, over an upstream that loses requests and responses.
    ///
    /// - Parameters:
    ///   - seed: The seed of all random decisions.
    ///   - overlaps: Whether a process continues to deliver while the next one takes over.
    /// - Returns: the world after all writes are delivered or discarded.
    /// - Throws: an error of the test's setup.
    private func walk(seed: UInt64, overlaps: Bool) async throws -> World {
        let fates = Mutex(SplitMix64(seed: seed &+ 1))
        let world = World(seed: seed, hasClaims: !overlaps) { _ in
            switch fates.withLock({ Int.random(in: 0..<10, using: &$0) }) {
            case 0: .lost
            case 1: .answerLost
            case 2: .turnedAway(DataResponse(status: 503))
            case 3: .turnedAway(DataResponse(status: 401))
            default: .done
            }
        }
        let lives = Mutex(SplitMix64(seed: seed &+ 2))
        try await world.stage.scheduler.run {
            var earlier: Outbox?
            for number in 0..<6 {
                let limit = overlaps ? 1_000 : 150
                let process = MortalProcess(steps: lives.withLock { Int.random(in: 0..<limit, using: &$0) })
                let outbox = try world.outbox(in: process, keySeed: seed &+ UInt64(number) &+ 100)
                try? await outbox.open(handlers: [world.stage.handler])
                await withTaskGroup { group in
                    for writer in 0..<5 {
                        group.addTask {
                            var random = SplitMix64(seed: seed &+ UInt64(number * 10 + writer))
                            for round in 0..<6 {
                                let isBad = Int.random(in: 0..<8, using: &random) == 0
                                let text = "\(number)-\(writer)-\(round)\(isBad ? "-bad" : "")"
                                guard await world.accept([String(writer)], text, in: outbox) else { return }
                                let pause = Int.random(in: 0..<200, using: &random)
                                try? await world.stage.timer.sleep(for: .milliseconds(pause))
                            }
                        }
                    }
                }
                await earlier?.close()
                earlier = outbox
                if !overlaps { await outbox.close() }
            }
            try await world.deliverTheRest(keySeed: seed)
            await earlier?.close()
        }
        #expect(world.stage.timer.count == 0, "The seed was \(seed).")
        return world
    }

    @Test(arguments: [false, true]) func noWriteIsLostOrDoneTwiceUnderRandomFailures(overlaps: Bool) async throws {
        let first = UInt64.random(in: 0 ... .max)
        var accepted = 0
        var delayed = 0
        var takeovers = 0
        let seeds = (0..<(Thoroughness.isExhaustive ? 40 : 4)).map { first &+ $0 }
        for seed in seeds {
            let world = try await walk(seed: seed, overlaps: overlaps)
            try await world.check("The seed was \(seed).")
            // Two processes that overlap may both report the same refusal.
            let refused = world.stage.errors.errors.compactMap { ($0 as? RefusedWriteError)?.entry.idempotencyKey }
            #expect(overlaps || Set(refused).count == refused.count, "The seed was \(seed).")
            takeovers += world.stage.errors.errors.filter { $0 is OutboxFencedError }.count
            accepted += world.accepted.withLock { $0.values.joined().count }
            delayed += world.upstream.requests.count - world.upstream.done.count
        }
        #expect(accepted > (Thoroughness.isExhaustive ? 500 : 12 * seeds.count), "The seeds began with \(first).")
        #expect(delayed > (Thoroughness.isExhaustive ? 200 : 4 * seeds.count), "The seeds began with \(first).")
        #expect(overlaps ? takeovers > 0 : takeovers == 0, "The seeds began with \(first).")
    }
}
