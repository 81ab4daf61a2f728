import InwardTesting
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct PendingLayerTests {
    private struct Note: Identifiable, Equatable {
        let id: Int
        var text = ""
    }

    @Test func writesAreShownInOrderUntilTheyAreRemoved() {
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

    @Test func spaceOfRemovedWritesIsReclaimed() {
        let pending = PendingLayer<Note>()
        for id in 0..<1_000 { pending.add(Note(id: id), for: "\(id)") }
        // Space is reclaimed when more than half of the places are empty, so that each removal is cheap on average.
        for id in 0..<500 { pending.remove("\(id)") }
        #expect(pending.snapshot.placeCount == 1_000)
        pending.remove("500")
        #expect(pending.snapshot.placeCount == 499)
        for id in 501..<990 { pending.remove("\(id)") }
        #expect(pending.snapshot.placeCount <= 21)
        #expect(pending.entities.map(\.id) == Array(990..<1_000))
    }

    @Test func addingAndRemovingWritesDoesNotLeakSpace() {
        let pending = PendingLayer<Note>()
        for id in 0..<1_000 {
            pending.add(Note(id: id), for: "\(id)")
            pending.remove("\(id)")
        }
        #expect(pending.snapshot.placeCount <= 1)
    }

    @Test func latestWriteOfAnIdentifierIsShown() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1, text: "first"), for: "a")
        pending.add(Note(id: 1, text: "last"), for: "b")
        #expect(pending.note(1)?.text == "last")
        pending.remove("a")
        #expect(pending.note(1)?.text == "last")
    }

    @Test func writeWithTheSameKeyReplacesTheFirst() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1), for: "a")
        pending.add(Note(id: 2), for: "a")
        #expect(pending.entities.map(\.id) == [2])
        #expect(pending.note(1) == nil)
        pending.remove("a")
        #expect(pending.isEmpty)
    }

    @Test func writesOfAnEntityAreAppliedInOrder() throws {
        let pending = PendingLayer<Note> { _, note in Note(id: note.id, text: note.text + "!") }
        func add(_ key: String, _ effect: PendingLayer<Note>.Effect, id: Int = 1) {
            pending.add(.init(key: key, id: id, subject: ["1"], effect: effect))
        }
        let patch = try #require(MergePatch(Data("{}".utf8)))
        add("a", .patched(patch))
        #expect(pending.version(1)?.entity == nil)
        #expect(pending.version(1, over: .entity(Note(id: 1, text: "old")))?.entity?.text == "old!")
        add("b", .replaced(Note(id: 1, text: "new")))
        add("c", .patched(patch))
        #expect(pending.version(1)?.entity?.text == "new!")
        let list = [Note(id: 1, text: "old"), Note(id: 2)]
        #expect(pending.snapshot.applied(to: list) { _ in true }?.map(\.text) == ["new!", ""])
        #expect(pending.snapshot.applied(to: list) { $0.text.isEmpty }?.map(\.id) == [2])
        // Only the upstream knows whether an updated entity belongs in a list.
        #expect(pending.snapshot.applied(to: [Note(id: 2)]) { _ in true } == nil)
        pending.replace(.init(key: "b", id: 1, subject: ["1"], effect: .replaced(Note(id: 1, text: "newer"))))
        #expect(pending.version(1)?.entity?.text == "newer!")
        add("d", .deleted)
        if case .deleted? = pending.version(1) {} else { Issue.record("The deleted note is still there.") }
        #expect(pending.snapshot.applied(to: list) { _ in true }?.map(\.id) == [2])
        pending.remove("d")
        #expect(pending.subject(of: 1) == ["1"] && pending.subject(of: 2) == nil)
        #expect(Set(pending.reset(to: []).map(\.key)) == ["a", "b", "c"] && pending.isEmpty)
    }

    @Test func pendingIdentifierWorksUntilItIsUsedAgain() {
        let pending = PendingLayer<Note>()
        pending.add(.init(key: "a", id: -1, subject: ["s"], effect: .created(Note(id: -1))))
        pending.add(.init(key: "b", id: -1, subject: ["s"], effect: .replaced(Note(id: -1, text: "b"))))
        #expect(pending.isCreated(-1) && pending.id(createdIn: ["s"]) == -1)
        pending.remove("a", as: 7)
        #expect(pending.currentID(-1) == 7 && pending.id(createdIn: ["s"]) == 7 && !pending.isCreated(7))
        #expect(pending.subject(of: 7) == ["s"] && pending.subject(of: -1) == nil)
        // Lists show the edit of an entity that was just created.
        #expect(pending.snapshot.applied(to: [Note(id: 7)]) { _ in true }?.map(\.text) == ["b"])
        pending.add(.init(key: "c", id: -1, subject: ["t"], effect: .created(Note(id: -1))))
        #expect(pending.currentID(-1) == -1 && pending.isCreated(-1))
        pending.remove("c")
        #expect(pending.id(createdIn: ["t"]) == nil)
    }

    /// A caller has found the entity in a list, and changes it before the response to its creation arrives.
    @Test func writesOfTwoSubjectsAreAppliedInAcceptanceOrder() {
        let pending = PendingLayer<Note>()
        pending.add(.init(key: "a", id: -1, subject: ["s"], effect: .created(Note(id: -1))))
        pending.add(.init(key: "b", id: -1, subject: ["s"], effect: .replaced(Note(id: 7, text: "first"))))
        pending.add(.init(key: "c", id: 7, subject: ["7"], effect: .replaced(Note(id: 7, text: "second"))))
        pending.remove("a", as: 7)
        #expect(pending.version(7)?.entity?.text == "second" && pending.subject(of: 7) == ["7"])
    }

    @Test func onlyTheLatestPendingIdentifiersAreRemembered() {
        let pending = PendingLayer<Note>()
        for id in 1...10_001 {
            pending.add(.init(key: "\(id)", id: -id, subject: ["\(id)"], effect: .created(Note(id: -id))))
            pending.remove("\(id)", as: id)
        }
        #expect(pending.currentID(-1) == -1 && pending.id(createdIn: ["1"]) == nil)
        #expect(pending.currentID(-2) == 2 && pending.currentID(-10_001) == 10_001)
    }

    @Test func snapshotIsCurrentUntilAWriteIsAddedRemovedOrReplaced() {
        let pending = PendingLayer<Note>()
        pending.add(Note(id: 1), for: "a")
        let snapshot = pending.snapshot
        #expect(pending.isCurrent(snapshot))
        pending.remove("a") { #expect(!pending.isCurrent(snapshot)) }
        #expect(!pending.isCurrent(snapshot))
        #expect(snapshot.applied(to: []) { _ in true } == [Note(id: 1)])
    }

    @Test func snapshotIsCurrentOnceARemovalHasEnded() {
        let pending = PendingLayer<Note>()
        for key in ["a", "b"] { pending.add(Note(id: 1), for: key) }
        pending.remove("a") {}
        #expect(pending.isCurrent(pending.snapshot))
    }

    /// Compares random operations with a list that is searched linearly.
    @Test(arguments: Thoroughness.sample([UInt64(1), 2, 3], every: 3) + [.random(in: 4 ... .max)])
    func randomWalkAgreesWithAList(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pending = PendingLayer<Note>()
        var list: [Note] = []
        for step in 0..<2_000 {
            // At first, most operations add a write. Later, most remove one.
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
    /// Adds a pending creation with its own subject.
    func add(_ entity: Entity, for key: String) {
        add(Write(key: key, id: entity.id, subject: [key], effect: .created(entity)))
    }
}
