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

/// Changes that repositories on two instances make at the same time.
@Suite(.timeLimit(.minutes(5)))
struct SharedRepositoryConcurrencyTests: SharedRepositorySuite {
    let stage = SharedOutboxStage()
    let source = VersionedSource()

    /// The second write must contain the first one, because it replaces the whole record.
    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateFollowsThatOfAnotherInstance(update: Editing<Remark>.Update) async throws {
        try await run(running: [], Editing(update)) { first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await first.remarks.update(2) { $0.text = "new" }
            // The second instance does not follow the first one, and does not know of its write yet.
            let updated = try await second.remarks.update(2) { $0.author = 8 }
            #expect(updated.value == Remark(id: 2, author: 8, text: "new"))
            let entries = try await second.outbox.entries(in: SharedOutboxStage.partition)
            #expect(entries.map(\.write.version) == [.entityTag(#""v1""#), .previousWrite])
            try await first.partition.showPending()
            #expect(try await first.remarks.entity(2).value == updated.value)
        }
    }

    @Test func updateIsMadeAgainIfAnotherInstanceAcceptsOneInTheMeantime() async throws {
        let (stage, other) = (stage, Box<Repository<Remark>>())
        // Before the first commit of an entry, the other instance commits one.
        let gated = GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            guard case .commit(let changes) = operation, moment == .before,
                changes.contains(.announce(["outbox", "heads", SharedOutboxStage.partition])),
                let repository = other.take()
            else { return }
            _ = try? await repository.update(2) { $0.text = "new" }
        }
        try await run(running: [], over: gated) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            other.put(second.remarks)
            let updated = try await first.remarks.update(2) { $0.author = 8 }
            #expect(updated.value == Remark(id: 2, author: 8, text: "new"))
            let entries = try await first.outbox.entries(in: SharedOutboxStage.partition)
            #expect(entries.map(\.sequence) == [1, 2])
            #expect(source.writes.isEmpty)
        }
    }

    @Test func manyTasksOnTwoInstancesUpdateOneEntity() async throws {
        let count = Thoroughness.isExhaustive ? 40 : 16
        try await run(running: []) { first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask { try await [first, second][number % 2].remarks.update(2) { $0.text += "x" } }
                }
            }
            try await first.partition.showPending()
            #expect(first.partition.pending.count == count)
            #expect(try await first.remarks.entity(2).value.text == "2" + String(repeating: "x", count: count))
        }
    }

    @Test func deletionOnOneInstanceIsSeenByAnUpdateOnAnother() async throws {
        try await run(running: []) { first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await first.remarks.delete(2)
            await #expect(throws: WriteError<Remark>.self) { try await second.remarks.update(2) { $0.text = "new" } }
            #expect(second.partition.pending.count == 1)
        }
    }

    /// The other instance accepts an update, and this one shows it, between the making of a write and its commit.
    @Test(arguments: [Editing<Remark>.Update.put, .patch])
    func updateIsMadeAgainIfAnotherOneIsShownInTheMeantime(update: Editing<Remark>.Update) async throws {
        let pair = Box<(Repository<Remark>, OutboxPartition)>()
        let gated = GatedSharedStore(stage.store) { operation, moment async throws(RecordStoreError) in
            // The first reading after the write was made is that of the head.
            guard operation == .read, moment == .before, let (repository, partition) = pair.take() else { return }
            _ = try? await repository.update(2) { $0.text = "new" }
            try await partition.showPending()
        }
        try await run(running: [], Editing(update), over: gated) { first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            pair.put((second.remarks, first.partition))
            let updated = try await first.remarks.update(2) { $0.author = 8 }
            #expect(updated.value == Remark(id: 2, author: 8, text: "new"))
            #expect(first.partition.pending.count == 2)
        }
    }

    @Test func deletionNamesTheVersionThatWasReadIfAnotherInstanceHasChangedIt() async throws {
        try await run(running: [1]) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { source.remark(2)?.text == "new" && second.partition.pending.isEmpty }
            // The first instance has not heard of the delivery.
            try await first.remarks.delete(2)
            try await stage.until { try await second.partition.contents().deadLetters.count == 1 }
            #expect(source.writes.last == #"DELETE 2 "v1""#)
            #expect(source.remark(2)?.text == "new")
        }
    }

    /// Without entity tags, the upstream would not notice that a whole record is based on an outdated one.
    @Test func updateIsBasedOnWhatAnotherInstanceHasDelivered() async throws {
        source.omitTags()
        try await run(running: [1], Editing(.put)) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            try await first.remarks.update(2) { $0.text = "new" }
            try await stage.until { source.remark(2)?.text == "new" && second.partition.pending.isEmpty }
            try await first.remarks.update(2) { $0.author = 8 }
            try await stage.until { source.remark(2)?.author == 8 }
            #expect(source.remark(2)?.text == "new")
        }
    }

    // MARK: Conflicts

    @Test func conflictIsResolvedOnAnotherInstanceOnce() async throws {
        try await run(Editing(.patch, onConflict: .ask)) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            source.put(Remark(id: 2, author: 7, text: "theirs"))
            try await first.remarks.update(2) { $0.text = "mine" }
            try await stage.until { try await second.remarks.conflicts().count == 1 }
            let conflict = try #require(try await second.remarks.conflicts().first)
            #expect(conflict.versions.mine?.text == "mine" && conflict.versions.theirs?.text == "theirs")
            try await second.remarks.resolve(conflict, .mine)
            await #expect(throws: RepositoryError.self) { try await first.remarks.resolve(conflict, .mine) }
            try await stage.until { source.remark(2)?.text == "mine" }
            try await stage.until {
                try await first.partition.contents() == OutboxContents(pending: [], deadLetters: [])
            }
            #expect(try await first.remarks.conflicts().isEmpty)
        }
    }

    @Test func theirVersionIsKeptOnEveryInstance() async throws {
        try await run(Editing(.patch, onConflict: .ask)) { [self] first, second in
            for instance in [first, second] { _ = try await instance.remarks.entity(2) }
            source.put(Remark(id: 2, author: 7, text: "theirs"))
            try await first.remarks.update(2) { $0.text = "mine" }
            try await stage.until { try await second.remarks.conflicts().count == 1 }
            try await second.remarks.resolve(try #require(try await second.remarks.conflicts().first), .theirs)
            #expect(try await first.partition.contents().deadLetters.isEmpty)
            for instance in [first, second] {
                try await stage.until { try await text(2, instance) == "theirs" }
            }
        }
    }
}
