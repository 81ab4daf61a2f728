import InwardTesting
import Testing

@testable import InwardRepositories

struct PendingEntitiesTests {
    private struct Note: Identifiable, Equatable {
        let id: Int
        var text = ""
    }

    @Test func whatIsAddedIsThereInItsOrderUntilItIsRemoved() {
        let pending = PendingEntities<Note>()
        for id in [3, 1, 2] { pending.add(Note(id: id), for: "\(id)") }
        #expect(pending.snapshot.entities.map(\.id) == [3, 1, 2])
        #expect(pending.entity(1) == Note(id: 1))
        pending.remove("1")
        #expect(pending.snapshot.entities.map(\.id) == [3, 2])
        #expect(pending.entity(1) == nil)
        pending.remove("1")
        pending.remove("3")
        pending.remove("2")
        #expect(pending.isEmpty)
    }

    @Test func whatIsGoneTakesNoRoom() {
        let pending = PendingEntities<Note>()
        for id in 0..<1_000 { pending.add(Note(id: id), for: "\(id)") }
        for id in 0..<990 { pending.remove("\(id)") }
        #expect(pending.snapshot.places.count <= 21)
        #expect(pending.snapshot.entities.map(\.id) == Array(990..<1_000))
    }

    @Test func theLastOfAnIdentityIsFound() {
        let pending = PendingEntities<Note>()
        pending.add(Note(id: 1, text: "first"), for: "a")
        pending.add(Note(id: 1, text: "last"), for: "b")
        #expect(pending.entity(1)?.text == "last")
        pending.remove("a")
        #expect(pending.entity(1)?.text == "last")
    }

    @Test func whatIsAddedForTheSameTakesThePlaceOfWhatWas() {
        let pending = PendingEntities<Note>()
        pending.add(Note(id: 1), for: "a")
        pending.add(Note(id: 2), for: "a")
        #expect(pending.snapshot.entities.map(\.id) == [2])
        #expect(pending.entity(1) == nil)
        pending.remove("a")
        #expect(pending.isEmpty)
    }

    @Test func aSnapshotIsCurrentUntilSomethingIsAddedRemovedOrBeingReplaced() {
        let pending = PendingEntities<Note>()
        pending.add(Note(id: 1), for: "a")
        let snapshot = pending.snapshot
        #expect(pending.isCurrent(snapshot))
        pending.remove("a") { #expect(!pending.isCurrent(snapshot)) }
        #expect(!pending.isCurrent(snapshot))
        #expect(snapshot.entities == [Note(id: 1)])
    }

    @Test func whatIsReplacedIsSoonOver() {
        let pending = PendingEntities<Note>()
        for key in ["a", "b"] { pending.add(Note(id: 1), for: key) }
        pending.remove("a") {}
        #expect(pending.isCurrent(pending.snapshot))
    }

    /// Walks at random beside a list that is searched from end to end.
    @Test(arguments: [UInt64(1), 2, 3, .random(in: 4 ... .max)])
    func itAgreesWithAListWhateverIsAddedAndRemoved(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pending = PendingEntities<Note>()
        var list: [Note] = []
        for step in 0..<2_000 {
            // More come than go at first, and more go than come behind that.
            if Int.random(in: 0..<10, using: &random) < (step < 1_000 ? 7 : 3) {
                list.append(Note(id: step, text: "\(seed)"))
                pending.add(Note(id: step, text: "\(seed)"), for: "\(step)")
            } else if let gone = list.randomElement(using: &random) {
                list.removeAll { $0.id == gone.id }
                pending.remove("\(gone.id)")
            }
            let some = Int.random(in: 0...step, using: &random)
            #expect(pending.entity(some) == list.first { $0.id == some }, "seed \(seed)")
            #expect(pending.isEmpty == list.isEmpty, "seed \(seed)")
            if step % 50 == 0 { #expect(pending.snapshot.entities == list, "seed \(seed)") }
        }
        #expect(pending.snapshot.entities == list, "seed \(seed)")
    }
}
