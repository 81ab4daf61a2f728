import InwardTesting
import Testing

@testable import InwardCore

struct PriorityQueueTests {
    @Test func lowestPriorityComesFirst() {
        var queue = PriorityQueue<Duration, String>()
        #expect(queue.firstPriority == nil)
        for (moment, entry) in [(3, "c"), (1, "a"), (2, "b"), (5, "e"), (4, "d")] {
            _ = queue.insert(entry, at: .seconds(moment))
        }
        #expect(queue.firstPriority == .seconds(1))
        var popped: [String] = []
        while let entry = queue.popFirst(through: .seconds(4)) { popped.append(entry) }
        #expect(popped == ["a", "b", "c", "d"])
        #expect(queue.firstPriority == .seconds(5))
        #expect(queue.first?.priority == .seconds(5) && queue.first?.element == "e")
        #expect(queue.count == 1)
        #expect(queue.popFirst() == "e")
        #expect(queue.popFirst() == nil && queue.first == nil)
    }

    /// Otherwise the queue would grow as long as a service schedules timers.
    @Test func slotsOfRemovedElementsAreReused() {
        var queue = PriorityQueue<Duration, Int>()
        for number in 0..<100 {
            let id = queue.insert(number, at: .seconds(number))
            _ = number % 2 == 0 ? queue.remove(id) : queue.popFirst(through: .seconds(number))
        }
        let slots = Mirror(reflecting: queue).descendant("slots") as? any Collection
        #expect(slots?.count == 1)
    }

    @Test func elementCanBeRemovedOnlyOnce() {
        var queue = PriorityQueue<Duration, String>()
        let first = queue.insert("a", at: .seconds(1))
        let second = queue.insert("b", at: .seconds(2))
        #expect(queue.remove(first) == "a")
        #expect(queue.remove(first) == nil)
        // Another element takes its slot, but has another identifier.
        _ = queue.insert("c", at: .seconds(3))
        #expect(queue.remove(first) == nil)
        #expect(queue.popFirst(through: .seconds(2)) == "b")
        #expect(queue.remove(second) == nil)
        #expect(queue.count == 1)
    }

    @Test func removedElementIsReleased() {
        final class Entry: Sendable {}
        var queue = PriorityQueue<Duration, Entry>()
        weak var removed: Entry?
        weak var popped: Entry?
        do {
            let entries = (Entry(), Entry())
            (removed, popped) = entries
            _ = queue.insert(entries.0, at: .seconds(2))
            _ = queue.insert(entries.1, at: .seconds(1))
        }
        #expect(removed != nil && popped != nil)
        _ = queue.popFirst(through: .seconds(1))
        #expect(popped == nil && removed != nil)
        _ = queue.popFirst(through: .seconds(2))
        #expect(removed == nil)
        #expect(queue.count == 0)
    }

    @Test(arguments: 1...20)
    func queueAgreesWithASortedList(seed: UInt64) {
        var randomness = SplitMix64(seed: seed)
        var queue = PriorityQueue<Duration, Int>()
        var model: [(id: PriorityQueue<Duration, Int>.ID, moment: Duration, entry: Int)] = []
        var now = Duration.zero
        for entry in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &randomness) {
            case 0..<5:
                let moment = now + .nanoseconds(Int.random(in: -5...1_000, using: &randomness))
                model.append((queue.insert(entry, at: moment), moment, entry))
            case 5..<8 where !model.isEmpty:
                let victim = model.remove(at: Int.random(in: 0..<model.count, using: &randomness))
                #expect(queue.remove(victim.id) == victim.entry, "seed \(seed)")
            default:
                now += .nanoseconds(Int.random(in: 0...100, using: &randomness))
                while let entry = queue.popFirst(through: now) {
                    let index = model.firstIndex { $0.entry == entry }
                    let moment = index.map { model.remove(at: $0).moment }
                    #expect(moment.map { $0 <= now && model.allSatisfy { $0.moment >= moment ?? .zero } } == true)
                }
                #expect(model.allSatisfy { $0.moment > now }, "seed \(seed)")
            }
            #expect(queue.count == model.count, "seed \(seed)")
            #expect(queue.firstPriority == model.map(\.moment).min(), "seed \(seed)")
        }
    }
}
