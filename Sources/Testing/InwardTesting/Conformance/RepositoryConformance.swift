import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check that a `Repository` and its outbox work over a record store.
///
/// Tell the check how to open a store, and run it in a test of any framework:
///
///     let conformance = RepositoryConformance(now: now)
///     try await conformance.check { MyRecordStore(directory: directory, now: { now }) }
///
/// The check simulates several processes, one after the other, and opens a store for each. Every store must find what the earlier
/// ones have stored; return the same store each time if it is in memory. The check removes all records of the store, at the
/// beginning and between its steps.
///
/// Run ``RecordStoreConformance`` first, which says what is wrong with the store. This check says what users of a repository would
/// notice. It waits for a store that does not respond, so give the test a time limit.
public struct RepositoryConformance: Sendable {
    private let now: Date

    /// Creates a check.
    ///
    /// - Parameter now: The time on the store's clock.
    public init(now: Date) {
        self.now = now
    }

    /// Checks repositories over the stores that a closure opens.
    ///
    /// - Parameter open: Opens a store, each time at the same place.
    /// - Throws: a ``ConformanceFailure`` that lists all violations.
    public func check(
        _ open: @escaping @Sendable () async throws -> any RecordStore
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        for check in [
            readViolations, invalidationViolations, updateViolations, creationViolations, deletionViolations,
            partitionViolations, concurrencyViolations,
        ] {
            let stage = NoteStage(now: now, open: open)
            do {
                try await open().commit([.removeAll([])])
                try await check(stage)
            } catch {
                stage.note("A repository must not fail, and did: \(error)")
            }
            violations += stage.violations
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// What was read is found by the next process, without the upstream.
    private func readViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            _ = try? await notes.entity(9)
            _ = try await notes.entities()
        }
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, "first", "What was read")
            await stage.expect(notes, 9, nil, "What was read and did not exist")
            let list = try? await notes.entities(.all, .cacheOnly)
            let isFound = list?.value.map(\.id) == [1, 2, 3]
            stage.require(isFound, "A list that was read must be found after a restart, and is not.")
        }
    }

    /// What was invalidated is not found by the next process.
    private func invalidationViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            for id in 1...3 { _ = try await notes.entity(id) }
            await notes.flush()
            notes.invalidate(1)
        }
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, nil, "What was invalidated")
        }
    }

    /// An update is shown while it is pending, also after a restart, and is sent once.
    private func updateViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            stage.upstream.goOffline()
            try await notes.update(1) { $0.text = "once" }
            try await notes.update(1) { $0.text = "twice" }
            await stage.expect(notes, 1, "twice", "What was updated", isPending: true)
        }
        try await stage.process { notes, outbox in
            await stage.expect(notes, 1, "twice", "What was updated before a restart", isPending: true)
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["PATCH 1 once", "PATCH 1 twice"],
                "Updates must be delivered once and in order, and were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 1, "twice", "What was updated and delivered")
        }
        try await stage.expectNothingPending()
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, "twice", "What was updated and delivered before a restart")
        }
    }

    /// A creation is shown while it is pending, also after a restart, and is sent once, before its update.
    private func creationViolations(_ stage: NoteStage) async throws {
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            let note = try await notes.create(NoteDraft(text: "draft"))
            try await notes.update(note.value.id) { $0.text = "changed" }
        }
        try await stage.process { notes, outbox in
            stage.require(outbox.pending.count == 2, "Two writes must be pending, and \(outbox.pending.count) are.")
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["POST draft", "PATCH 4 changed"],
                "A creation must be delivered once and before its update, and there were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 4, "changed", "What was created and delivered", policy: .cacheFirst)
        }
        try await stage.expectNothingPending()
    }

    /// A deletion hides the entity while it is pending, also after a restart, and is sent once.
    private func deletionViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            _ = try await notes.entities()
            await notes.flush()
            stage.upstream.goOffline()
            try await notes.delete(1)
            await stage.expect(notes, 1, nil, "What was deleted")
        }
        try await stage.process { notes, outbox in
            await stage.expect(notes, 1, nil, "What was deleted before a restart")
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["DELETE 1"],
                "A deletion must be delivered once, and there were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 1, nil, "What was deleted and delivered")
        }
        try await stage.expectNothingPending()
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, nil, "What was deleted and delivered before a restart")
        }
    }

    /// Two users of one store see nothing of each other, and neither do their outboxes.
    private func partitionViolations(_ stage: NoteStage) async throws {
        try await stage.process(of: "ada") { notes, _ in
            _ = try await notes.entity(1)
            stage.upstream.goOffline()
            try await notes.update(1) { $0.text = "ada's" }
        }
        try await stage.process(of: "bob") { notes, outbox in
            await stage.expect(notes, 1, nil, "What another user has read and updated")
            let pending = try await outbox.contents().pending.count
            stage.require(pending == 0, "The writes of another user must not be pending, and \(pending) are.")
            stage.upstream.goOffline(false)
            _ = try await notes.entity(1)
            await notes.flush()
            notes.invalidateAll()
        }
        stage.upstream.goOffline()
        try await stage.process(of: "ada") { notes, outbox in
            await stage.expect(notes, 1, "ada's", "What was updated before another user came", isPending: true)
            await stage.deliver(outbox)
        }
        stage.require(
            stage.upstream.writes == ["PATCH 1 ada's"],
            "Each user's writes must be delivered once, and were \(stage.upstream.writes)."
        )
    }

    /// Of many writes at the same time, none is lost.
    private func concurrencyViolations(_ stage: NoteStage) async throws {
        let ids = 10..<60
        for id in ids { stage.upstream.put("as it was", at: id) }
        try await stage.process { notes, _ in
            for id in ids { _ = try await notes.entity(id) }
            stage.upstream.goOffline()
            try await withThrowingTaskGroup { group in
                for id in ids { group.addTask { try await notes.update(id) { $0.text = "\(id)" } } }
                try await group.waitForAll()
            }
        }
        try await stage.process { _, outbox in
            let count = outbox.pending.count
            stage.require(
                count == ids.count,
                "All of \(ids.count) updates must be pending after a restart, and \(count) are."
            )
            await stage.deliver(outbox)
        }
        let updated = ids.filter { stage.upstream.text(at: $0) == "\($0)" }.count
        stage.require(updated == ids.count, "All of \(ids.count) updates must be delivered, and \(updated) are.")
        try await stage.expectNothingPending()
    }
}
