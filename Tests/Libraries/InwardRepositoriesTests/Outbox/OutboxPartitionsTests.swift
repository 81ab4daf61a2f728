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
struct OutboxPartitionsTests {
    private func entry(_ sequence: Int, _ subject: RecordKey = ["7"], age: Double = 0) -> OutboxEntry {
        OutboxEntry(
            sequence: sequence,
            write: OutboxStage.write(subject),
            idempotencyKey: "k\(sequence)",
            acceptedAt: OutboxStage.time.addingTimeInterval(-age),
            attempts: 0
        )
    }

    @Test func onlyTheFirstEntryOfAPartitionIsSentAndTheOldestPartitionFirst() {
        var partitions = OutboxPartitions(concurrency: 2)
        for (sequence, subject) in [(3, "c"), (4, "a"), (5, "a"), (6, "b")] {
            partitions.append(entry(sequence, [subject]), DeliveryHistory())
        }
        #expect(partitions.next(at: .zero)?.entry.sequence == 3)
        #expect(partitions.next(at: .zero)?.entry.sequence == 4)
        #expect(partitions.next(at: .zero) == nil)
        partitions.settle(entry(4, ["a"]))
        #expect(partitions.next(at: .zero)?.entry.sequence == 5)
        #expect(partitions.next(at: .zero) == nil)
        #expect(partitions.pending.map(\.sequence) == [3, 5, 6])
    }

    @Test func revisedEntryKeepsItsPlaceAndCountsWithItsNewSize() throws {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.append(entry(1), DeliveryHistory())
        partitions.append(entry(2), DeliveryHistory())
        partitions.append(entry(3, ["8"]), DeliveryHistory())
        let before = partitions.byteCount
        let revised = entry(2).revised(to: OutboxStage.write(["7"], "12345"))
        partitions.revise(revised)
        #expect(partitions.byteCount == before + 4 && partitions.pending.map(\.sequence) == [1, 2, 3])
        #expect(partitions.hasEntries(of: ["7"]) && !partitions.hasEntries(of: ["9"]))
        #expect(partitions.next(at: .zero)?.entry == entry(1))
        partitions.settle(entry(1))
        let next = partitions.next(at: .zero)
        var delivery = try #require(next)
        #expect(delivery.entry == revised)
        // An entry that is revised during delivery counts with its new size when it waits.
        delivery.entry = revised.revised(to: OutboxStage.write(["7"], "1"))
        partitions.postpone(delivery, until: .seconds(1))
        #expect(partitions.byteCount == entry(2).write.byteCount + entry(3, ["8"]).write.byteCount)
        partitions.revise(entry(4))
        #expect(partitions.count == 2)
    }

    @Test func heldEntryCanBeRevised() {
        var partitions = OutboxPartitions(concurrency: 1)
        let name = OutboxEntryName(entry(1))
        partitions.hold(.init(name: name, entry: entry(1), reason: .behindLosses, byteCount: 1, note: nil))
        let revised = entry(1).revised(to: OutboxStage.write(["7"], "12345"))
        partitions.revise(revised)
        #expect(partitions.pending == [revised] && partitions.byteCount == revised.write.byteCount)
        #expect(partitions.undeliverableCount == 1)
    }

    @Test func wokenEntryNoLongerWaits() throws {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.append(entry(1), DeliveryHistory())
        let delivery = partitions.next(at: .zero)
        partitions.postpone(try #require(delivery), until: .seconds(9))
        var (key, wakeTime) = (partitions.nextKey(at: .seconds(8)), partitions.wakeTime)
        #expect(key == nil && wakeTime == .seconds(9))
        partitions.wake(["7"])
        wakeTime = partitions.wakeTime
        #expect(wakeTime == nil)
        let next = partitions.next(at: .zero)
        #expect(try #require(next).nextAttempt == nil)
        // At the concurrency limit, there is no reason to wake.
        partitions.append(entry(2, ["8"]), DeliveryHistory())
        partitions.postpone(try #require(next), until: .seconds(9))
        key = partitions.next(at: .zero)?.entry.idempotencyKey
        wakeTime = partitions.wakeTime
        #expect(key == "k2" && wakeTime == nil)
    }

    @Test func preferredEntryIsNextAndNoLongerWaits() throws {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.append(entry(1, ["8"]))
        partitions.append(entry(2))
        _ = partitions.next(at: .zero)
        partitions.settle(entry(1, ["8"]))
        let delivery = partitions.next(at: .zero)
        partitions.postpone(try #require(delivery), until: .seconds(9))
        partitions.append(entry(3, ["8"]))
        partitions.prefer(["7"])
        let next = partitions.next(at: .zero)
        #expect(next?.entry.sequence == 2 && next?.nextAttempt == nil)
    }

    @Test(arguments: [
        (AttemptNote(attempts: 1, mayHaveArrived: true), true),
        (AttemptNote(attempts: 1, mayHaveArrived: false, isSending: true), true),
        (AttemptNote(attempts: 1, mayHaveArrived: false), false), (nil, false),
    ])
    func heldEntryMayHaveArrivedIfItsNoteSaysSo(note: AttemptNote?, mayHaveArrived: Bool) {
        var partitions = OutboxPartitions(concurrency: 1)
        let entry = entry(1)
        partitions.hold(.init(name: .init(entry), entry: entry, reason: .behindLosses, byteCount: 1, note: note))
        #expect(partitions.item("k1")?.item.mayHaveArrived == mayHaveArrived)
    }

    @Test func heldEntryBlocksOnlyTheEntriesAfterIt() {
        var partitions = OutboxPartitions(concurrency: 9)
        partitions.append(entry(1), DeliveryHistory())
        partitions.holdUnreadable(2, in: ["7"])
        partitions.append(entry(3), DeliveryHistory())
        #expect(partitions.next(at: .zero)?.entry.sequence == 1)
        partitions.settle(entry(1))
        #expect(partitions.next(at: .zero) == nil)
        #expect(partitions.wakeTime == nil)
        #expect(partitions.pending.map(\.sequence) == [3])
        #expect(partitions.entries(behind: "k2", of: ["7"]).map(\.sequence) == [3])
        #expect(partitions.count == 2)
        #expect(partitions.undeliverableCount == 1)
        #expect(partitions.contains(entry(3)))
        #expect(!partitions.contains(entry(1)))
    }

    @Test func oldestDateIsThatOfAnyReadableEntry() {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.holdUnreadable(1, in: ["7"])
        #expect(partitions.oldestAcceptedAt == nil)
        partitions.append(entry(2, age: 1))
        #expect(partitions.oldestAcceptedAt == entry(2, age: 1).acceptedAt)
        partitions.append(entry(3, ["8"], age: 0))
        partitions.append(entry(4, ["8"], age: 2))
        #expect(partitions.oldestAcceptedAt == entry(4, age: 2).acceptedAt)
    }

    @Test func releasedEntryIsSentAndCountsAsUnknownIfItMayHaveArrived() {
        var partitions = OutboxPartitions(concurrency: 9)
        for (sequence, mayHaveArrived) in [(1, true), (2, false)] {
            let entry = entry(sequence, [String(sequence)])
            let note = AttemptNote(attempts: 1, mayHaveArrived: mayHaveArrived)
            partitions.hold(
                .init(name: .init(entry), entry: entry, reason: .damaged("it is"), byteCount: 1, note: note)
            )
        }
        #expect(partitions.undeliverableCount == 2)
        #expect(partitions.outcomeUnknownCount == 0)
        partitions.release { OutboxDelivery(entry: $0, history: DeliveryHistory(mayHaveArrived: $1.mayHaveArrived)) }
        #expect(partitions.undeliverableCount == 0)
        #expect(partitions.outcomeUnknownCount == 1)
        #expect(partitions.next(at: .zero)?.entry.sequence == 1)
    }

    @Test func entryAfterASettledOneIsNotInDelivery() {
        var partitions = OutboxPartitions(concurrency: 1)
        for sequence in 1...2 { partitions.append(entry(sequence)) }
        _ = partitions.next(at: .zero)
        partitions.settle(entry(1))
        #expect(partitions.item("k2")?.isUnderWay == false)
        partitions.remove("k2")
        #expect(partitions.item("k2") == nil)
    }

    /// An entry that an earlier process has tried keeps its own time, even if it now follows another entry.
    @Test func entryAfterASettledOneWaitsForItsOwnTime() {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.append(entry(1))
        partitions.append(OutboxDelivery(entry: entry(2), nextAttempt: .seconds(9)))
        _ = partitions.next(at: .zero)
        partitions.settle(entry(1))
        let (key, wakeTime) = (partitions.nextKey(at: .seconds(8)), partitions.wakeTime)
        #expect(key == nil && wakeTime == .seconds(9))
    }

    @Test func onlyAnEntryInDeliveryIsSettledOrPostponed() {
        var partitions = OutboxPartitions(concurrency: 1)
        partitions.append(entry(1), DeliveryHistory())
        partitions.append(entry(2), DeliveryHistory())
        partitions.settle(entry(1))
        #expect(partitions.underWay == 0)
        #expect(partitions.pending.map(\.sequence) == [1, 2])
        #expect(partitions.next(at: .zero)?.entry.sequence == 1)
        partitions.settle(entry(2))
        partitions.postpone(OutboxDelivery(entry: entry(2), history: DeliveryHistory()), until: .zero)
        #expect(partitions.underWay == 1)
        #expect(partitions.pending.map(\.sequence) == [1, 2])
    }

    @Test func answeredEntryMakesRoomForAnotherSubject() throws {
        var partitions = OutboxPartitions(concurrency: 1)
        for (sequence, subject) in [(1, "a"), (2, "a"), (3, "b")] { partitions.append(entry(sequence, [subject])) }
        #expect(partitions.next(at: .zero)?.entry.sequence == 1)
        #expect(partitions.next(at: .zero) == nil)
        partitions.answer(entry(1, ["a"]))
        // A second answer does not make more room.
        partitions.answer(entry(1, ["a"]))
        let next = partitions.next(at: .zero)
        #expect(next?.entry.sequence == 3)
        #expect(partitions.underWay == 1 && partitions.answeredCount == 1)
        partitions.postpone(try #require(next), until: .zero)
        #expect(partitions.next(at: .zero)?.entry.sequence == 3)
        // The next entry of a subject waits for the settlement.
        partitions.settle(entry(1, ["a"]))
        #expect(partitions.answeredCount == 0 && partitions.next(at: .zero) == nil)
        partitions.answer(entry(3, ["b"]))
        #expect(partitions.next(at: .zero)?.entry.sequence == 2)
        // A settlement that fails is postponed.
        partitions.postpone(OutboxDelivery(entry: entry(3, ["b"])), until: .zero)
        #expect(partitions.underWay == 1 && partitions.answeredCount == 0)
    }

    @Test func nothingIsSentWhileTooManyAnswersAreNotSettled() {
        var partitions = OutboxPartitions(concurrency: 1)
        for sequence in 0..<100 { partitions.append(entry(sequence, [String(sequence)])) }
        while let next = partitions.next(at: .zero) { partitions.answer(next.entry) }
        #expect(partitions.underWay == 0 && partitions.answeredCount == 64)
        partitions.settle(entry(0, ["0"]))
        #expect(partitions.next(at: .zero)?.entry.sequence == 64)
    }

    /// A slow but simple model.
    private struct Model {
        var partitions: [RecordKey: [Int]] = [:]
        var waits: [Int: Duration] = [:]
        var underWay: [Int: RecordKey] = [:]

        func next(at now: Duration, concurrency: Int) -> Int? {
            guard underWay.count < concurrency else { return nil }
            return partitions.values.compactMap(\.first).filter { underWay[$0] == nil && (waits[$0] ?? .zero) <= now }
                .min()
        }
    }

    @Test func randomOperationsMatchASimpleModel() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for walk in 0..<(Thoroughness.isExhaustive ? 100 : 8) {
            let concurrency = Int.random(in: 1...4, using: &random)
            var partitions = OutboxPartitions(concurrency: concurrency)
            var model = Model()
            var sequence = 0
            var now = Duration.zero
            for step in 0..<200 {
                let place: Comment = "The seed was \(seed), in the step \(step) of the walk \(walk)."
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let subject: RecordKey = [String(Int.random(in: 0..<5, using: &random))]
                    partitions.append(entry(sequence, subject), DeliveryHistory())
                    model.partitions[subject, default: []].append(sequence)
                    sequence += 1
                case 2, 3:
                    let expected = model.next(at: now, concurrency: concurrency)
                    let sent = partitions.next(at: now)
                    #expect(sent?.entry.sequence == expected, place)
                    if let sent { model.underWay[sent.entry.sequence] = sent.entry.write.subject }
                case 4:
                    guard let (number, subject) = model.underWay.min(by: { $0.key < $1.key }) else { continue }
                    model.underWay[number] = nil
                    if Bool.random(using: &random) {
                        partitions.settle(entry(number, subject))
                        model.partitions[subject]?.removeFirst()
                    } else {
                        let moment = now + .seconds(Int.random(in: 0..<5, using: &random))
                        let delivery = OutboxDelivery(entry: entry(number, subject), history: DeliveryHistory())
                        partitions.postpone(delivery, until: moment)
                        model.waits[number] = moment
                    }
                default: now += .seconds(Int.random(in: 0..<3, using: &random))
                }
                #expect(partitions.underWay == model.underWay.count, place)
                #expect(partitions.pending.map(\.sequence) == model.partitions.values.flatMap(\.self).sorted(), place)
                if let wake = partitions.wakeTime {
                    let waiting = model.partitions.values.compactMap(\.first).filter { model.underWay[$0] == nil }
                    #expect(waiting.contains { model.waits[$0] == wake }, place)
                } else if model.underWay.count < concurrency {
                    // Without a wake time, no first entry may be waiting for one.
                    let heads = model.partitions.values.compactMap(\.first).filter { model.underWay[$0] == nil }
                    #expect(heads.allSatisfy { (model.waits[$0] ?? .zero) <= now }, place)
                }
            }
        }
    }
}
