import InwardTesting
import Testing

@testable import InwardRepositories

struct PendingLayerTests {
    private struct Note: Identifiable, Equatable {
        let id: Int
        var text = ""
    }

    @Test func whatIsAddedIsThereInItsOrderUntilItIsRemoved() {
        let pending = PendingLayer<Note>()
        for id in [3, 1, 2] { pending.add(Note(id: id), for: "\(id)") }
        #expect(pending.entities.map(\.id) == [3, 1, 2])
        #expect(pending.note(1) == Note(id: 1))
        pending.remove("1")
        #expect(pending.entities.map(\.id) == [3, 2])
        #expect(pending.note(1) == nil)
        pending.remove("1")
        pending.remove("3")
        pending.remove("2")
        #expect(pending.isEmpty)
    }

    @Test func whatIsGoneTakesNoRoom() {
        let pending = PendingLayer<Note>()
        for id in 0..<1_000 { pending.add(Note(id: id), for: "\(id)") }
        for id in 0..<990 { pending.remove("\(id)") }
        #expect(pending.snapshot.placeCount <= 21)
        #expect(pending.entities.map(\.id) == Array(990..<1_000))
    }

    @Test func theLastOfAnIdentityIsFound() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1, text: "first"), for: "a")
        pending.add(Note(id: 1, text: "last"), for: "b")
        #expect(pending.note(1)?.text == "last")
        pending.remove("a")
        #expect(pending.note(1)?.text == "last")
    }

    @Test func whatIsAddedForTheSameTakesThePlaceOfWhatWas() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1), for: "a")
        pending.add(Note(id: 2), for: "a")
        #expect(pending.entities.map(\.id) == [2])
        #expect(pending.note(1) == nil)
        pending.remove("a")
        #expect(pending.isEmpty)
    }

    @Test func aSnapshotIsCurrentUntilSomethingIsAddedRemovedOrBeingReplaced() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1), for: "a")
        let snapshot = pending.snapshot
        #expect(pending.isCurrent(snapshot))
        pending.remove("a") { #expect(!pending.isCurrent(snapshot)) }
        #expect(!pending.isCurrent(snapshot))
        #expect(snapshot.applied(to: []) { _ in true } == [Note(id: 1)])
    }

    @Test func whatIsReplacedIsSoonOver() {
        let pending = PendingLayer<Note>()
        for key in ["a", "b"] { pending.add(Note(id: 1), for: key) }
        pending.remove("a") {}
        #expect(pending.isCurrent(pending.snapshot))
    }

    /// Walks at random beside a list that is searched from end to end.
    @Test(arguments: [UInt64(1), 2, 3, .random(in: 4 ... .max)])
    func itAgreesWithAListWhateverIsAddedAndRemoved(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pending = PendingLayer<Note>()
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
            #expect(pending.note(some) == list.first { $0.id == some }, "seed \(seed)")
            #expect(pending.isEmpty == list.isEmpty, "seed \(seed)")
            if step % 50 == 0 { #expect(pending.entities == list, "seed \(seed)") }
        }
        #expect(pending.entities == list, "seed \(seed)")
    }
}

extension PendingLayer where Entity.ID == Int {
    fileprivate var entities: [Entity] { snapshot.applied(to: []) { _ in true } ?? [] }

    fileprivate func note(_ id: Int) -> Entity? { version(id)?.entity }
}

extension PendingLayer {
    /// Adds a pending creation in a subject of its own.
    func add(_ entity: Entity, for key: String) {
        add(Write(key: key, id: entity.id, subject: [key], effect: .created(entity)))
    }
}
