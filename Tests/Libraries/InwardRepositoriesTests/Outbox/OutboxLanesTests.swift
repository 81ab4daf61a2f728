import InwardTesting
import Testing
import Thoroughness

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct OutboxLanesTests {
    private func entry(_ sequence: Int, _ subject: RecordKey = ["7"]) -> OutboxEntry {
        OutboxEntry(
            sequence: sequence,
            write: OutboxStage.write(subject),
            idempotencyKey: "k\(sequence)",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
    }

    @Test func theFirstOfALaneGoesAloneAndTheOldestLaneGoesFirst() {
        var lanes = OutboxLanes(concurrency: 2)
        for (sequence, subject) in [(3, "c"), (4, "a"), (5, "a"), (6, "b")] {
            lanes.append(entry(sequence, [subject]), DeliveryHistory())
        }
        #expect(lanes.next(at: .zero)?.entry.sequence == 3)
        #expect(lanes.next(at: .zero)?.entry.sequence == 4)
        #expect(lanes.next(at: .zero) == nil)
        lanes.settle(entry(4, ["a"]))
        #expect(lanes.next(at: .zero)?.entry.sequence == 5)
        #expect(lanes.next(at: .zero) == nil)
        #expect(lanes.pending.map(\.sequence) == [3, 5, 6])
    }

    @Test func whatIsWokenWaitsNoLonger() throws {
        var lanes = OutboxLanes(concurrency: 1)
        lanes.append(entry(1), DeliveryHistory())
        let delivery = lanes.next(at: .zero)
        lanes.postpone(try #require(delivery), until: .seconds(9))
        var (key, wakeTime) = (lanes.nextKey(at: .seconds(8)), lanes.wakeTime)
        #expect(key == nil && wakeTime == .seconds(9))
        lanes.wake(["7"])
        wakeTime = lanes.wakeTime
        #expect(wakeTime == nil)
        let next = lanes.next(at: .zero)
        #expect(try #require(next).nextAttempt == nil)
        // Where nothing more may be sent, it is of no use to wake.
        lanes.append(entry(2, ["8"]), DeliveryHistory())
        lanes.postpone(try #require(next), until: .seconds(9))
        key = lanes.next(at: .zero)?.entry.idempotencyKey
        wakeTime = lanes.wakeTime
        #expect(key == "k2" && wakeTime == nil)
    }

    @Test func whatIsPreferredGoesFirstAndWaitsNoLonger() throws {
        var lanes = OutboxLanes(concurrency: 1)
        lanes.append(entry(1, ["8"]))
        lanes.append(entry(2))
        _ = lanes.next(at: .zero)
        lanes.settle(entry(1, ["8"]))
        let delivery = lanes.next(at: .zero)
        lanes.postpone(try #require(delivery), until: .seconds(9))
        lanes.append(entry(3, ["8"]))
        lanes.prefer(["7"])
        let next = lanes.next(at: .zero)
        #expect(next?.entry.sequence == 2 && next?.nextAttempt == nil)
    }

    @Test(arguments: [
        (AttemptNote(attempts: 1, mayHaveArrived: true), true),
        (AttemptNote(attempts: 1, mayHaveArrived: false, isSending: true), true),
        (AttemptNote(attempts: 1, mayHaveArrived: false), false), (nil, false),
    ])
    func whatIsHeldMayHaveArrivedAsItIsNoted(note: AttemptNote?, mayHaveArrived: Bool) {
        var lanes = OutboxLanes(concurrency: 1)
        let entry = entry(1)
        lanes.hold(.init(name: .init(entry), entry: entry, reason: .behindLosses, byteCount: 1, note: note))
        #expect(lanes.item("k1")?.item.mayHaveArrived == mayHaveArrived)
    }

    @Test func whatIsHeldHoldsWhatIsBehindItAlone() {
        var lanes = OutboxLanes(concurrency: 9)
        lanes.append(entry(1), DeliveryHistory())
        lanes.holdUnreadable(2, in: ["7"])
        lanes.append(entry(3), DeliveryHistory())
        #expect(lanes.next(at: .zero)?.entry.sequence == 1)
        lanes.settle(entry(1))
        #expect(lanes.next(at: .zero) == nil)
        #expect(lanes.wakeTime == nil)
        #expect(lanes.pending.map(\.sequence) == [3])
        #expect(lanes.entries(behind: "k2", of: ["7"]).map(\.sequence) == [3])
        #expect(lanes.count == 2)
        #expect(lanes.heldCount == 1)
        #expect(lanes.contains(entry(3)))
        #expect(!lanes.contains(entry(1)))
    }

    @Test func whatIsReleasedIsHeldNoMoreAndItsOutcomeIsUnknownIfItMayHaveArrived() {
        var lanes = OutboxLanes(concurrency: 9)
        for (sequence, mayHaveArrived) in [(1, true), (2, false)] {
            let entry = entry(sequence, [String(sequence)])
            let note = AttemptNote(attempts: 1, mayHaveArrived: mayHaveArrived)
            lanes.hold(.init(name: .init(entry), entry: entry, reason: .damaged("it is"), byteCount: 1, note: note))
        }
        #expect(lanes.heldCount == 2)
        #expect(lanes.outcomeUnknownCount == 0)
        lanes.release { OutboxDelivery(entry: $0, history: DeliveryHistory(mayHaveArrived: $1.mayHaveArrived)) }
        #expect(lanes.heldCount == 0)
        #expect(lanes.outcomeUnknownCount == 1)
        #expect(lanes.next(at: .zero)?.entry.sequence == 1)
    }

    @Test func whatFollowsASettledEntryIsNotUnderWay() {
        var lanes = OutboxLanes(concurrency: 1)
        for sequence in 1...2 { lanes.append(entry(sequence)) }
        _ = lanes.next(at: .zero)
        lanes.settle(entry(1))
        #expect(lanes.item("k2")?.isUnderWay == false)
        lanes.remove("k2")
        #expect(lanes.item("k2") == nil)
    }

    /// An entry that an earlier process tried has a time of its own, though it has others before it by now.
    @Test func whatFollowsASettledEntryWaitsForItsOwnTime() {
        var lanes = OutboxLanes(concurrency: 1)
        lanes.append(entry(1))
        lanes.append(OutboxDelivery(entry: entry(2), nextAttempt: .seconds(9)))
        _ = lanes.next(at: .zero)
        lanes.settle(entry(1))
        let (key, wakeTime) = (lanes.nextKey(at: .seconds(8)), lanes.wakeTime)
        #expect(key == nil && wakeTime == .seconds(9))
    }

    @Test func whoIsNotUnderWayIsNotSettled() {
        var lanes = OutboxLanes(concurrency: 1)
        lanes.append(entry(1), DeliveryHistory())
        lanes.append(entry(2), DeliveryHistory())
        lanes.settle(entry(1))
        #expect(lanes.underWay == 0)
        #expect(lanes.pending.map(\.sequence) == [1, 2])
        #expect(lanes.next(at: .zero)?.entry.sequence == 1)
        lanes.settle(entry(2))
        lanes.postpone(OutboxDelivery(entry: entry(2), history: DeliveryHistory()), until: .zero)
        #expect(lanes.underWay == 1)
        #expect(lanes.pending.map(\.sequence) == [1, 2])
    }

    /// A slow and obvious account of the same.
    private struct Model {
        var lanes: [RecordKey: [Int]] = [:]
        var waits: [Int: Duration] = [:]
        var underWay: [Int: RecordKey] = [:]

        func next(at now: Duration, concurrency: Int) -> Int? {
            guard underWay.count < concurrency else { return nil }
            return lanes.values.compactMap(\.first).filter { underWay[$0] == nil && (waits[$0] ?? .zero) <= now }.min()
        }
    }

    @Test func aWalkSendsWhatAnAccountOfAllSays() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for walk in 0..<(Thoroughness.isExhaustive ? 100 : 8) {
            let concurrency = Int.random(in: 1...4, using: &random)
            var lanes = OutboxLanes(concurrency: concurrency)
            var model = Model()
            var sequence = 0
            var now = Duration.zero
            for step in 0..<200 {
                let place: Comment = "The seed was \(seed), in the step \(step) of the walk \(walk)."
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    let subject: RecordKey = [String(Int.random(in: 0..<5, using: &random))]
                    lanes.append(entry(sequence, subject), DeliveryHistory())
                    model.lanes[subject, default: []].append(sequence)
                    sequence += 1
                case 2, 3:
                    let expected = model.next(at: now, concurrency: concurrency)
                    let sent = lanes.next(at: now)
                    #expect(sent?.entry.sequence == expected, place)
                    if let sent { model.underWay[sent.entry.sequence] = sent.entry.write.subject }
                case 4:
                    guard let (number, subject) = model.underWay.min(by: { $0.key < $1.key }) else { continue }
                    model.underWay[number] = nil
                    if Bool.random(using: &random) {
                        lanes.settle(entry(number, subject))
                        model.lanes[subject]?.removeFirst()
                    } else {
                        let moment = now + .seconds(Int.random(in: 0..<5, using: &random))
                        let delivery = OutboxDelivery(entry: entry(number, subject), history: DeliveryHistory())
                        lanes.postpone(delivery, until: moment)
                        model.waits[number] = moment
                    }
                default: now += .seconds(Int.random(in: 0..<3, using: &random))
                }
                #expect(lanes.underWay == model.underWay.count, place)
                #expect(lanes.pending.map(\.sequence) == model.lanes.values.flatMap(\.self).sorted(), place)
                if let wake = lanes.wakeTime {
                    let waiting = model.lanes.values.compactMap(\.first).filter { model.underWay[$0] == nil }
                    #expect(waiting.contains { model.waits[$0] == wake }, place)
                } else if model.underWay.count < concurrency {
                    // Nobody waits for a time to come that nobody would be woken at.
                    let heads = model.lanes.values.compactMap(\.first).filter { model.underWay[$0] == nil }
                    #expect(heads.allSatisfy { (model.waits[$0] ?? .zero) <= now }, place)
                }
            }
        }
    }
}
