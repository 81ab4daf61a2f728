import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check that a `Repository` and its outbox work over a record store.
///
/// Pass a closure that opens a store. Run the check in a test of any framework:
///
/// ```swift
/// let now = Date()
/// let store = InMemoryRecordStore(now: { now })
/// try await RepositoryConformance(now: now).check { store }
/// ```
///
/// The check simulates several processes, one after the other, and opens a store for each. Every store must find the records
/// that the earlier ones stored. If the store is in memory, return the same one each time. The check removes all records of the
/// store, at the beginning and between its steps.
///
/// Run ``RecordStoreConformance`` first, which reports flaws of the store itself. This check reports their effects on users of
/// a repository. A store that does not respond makes the check hang, so give the test a time limit.
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
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
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
                stage.note("A repository must not fail, but did: \(error)")
            }
            violations += stage.violations
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// The next process finds what was read, without the upstream.
    private func readViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            _ = try? await notes.entity(9)
            _ = try await notes.entities()
        }
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, "first", "A note that was read")
            await stage.expect(notes, 9, nil, "A note that was read and did not exist")
            let list = try? await notes.entities(.all, .cacheOnly)
            let isFound = list?.value.map(\.id) == [1, 2, 3]
            stage.require(isFound, "A list that was read must be found after a restart, but is not.")
        }
    }

    /// The next process does not find what was invalidated.
    private func invalidationViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            for id in 1...3 { _ = try await notes.entity(id) }
            await notes.flush()
            notes.invalidate(1)
        }
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, nil, "An invalidated note")
        }
    }

    /// A pending update is shown, even after a restart, and is sent once.
    private func updateViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            stage.upstream.goOffline()
            try await notes.update(1) { $0.text = "once" }
            try await notes.update(1) { $0.text = "twice" }
            await stage.expect(notes, 1, "twice", "An updated note", isPending: true)
        }
        try await stage.process { notes, outbox in
            await stage.expect(notes, 1, "twice", "A note updated before a restart", isPending: true)
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["PATCH 1 once", "PATCH 1 twice"],
                "Updates must be delivered once and in order, but were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 1, "twice", "A note whose update was delivered")
        }
        try await stage.expectNothingPending()
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, "twice", "A note whose update was delivered before a restart")
        }
    }

    /// A pending creation is shown, even after a restart, and is sent once, before its update.
    private func creationViolations(_ stage: NoteStage) async throws {
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            let note = try await notes.create(NoteDraft(text: "draft"))
            try await notes.update(note.value.id) { $0.text = "changed" }
        }
        try await stage.process { notes, outbox in
            stage.require(outbox.pending.count == 2, "Two writes must be pending, but \(outbox.pending.count) are.")
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["POST draft", "PATCH 4 changed"],
                "A creation must be delivered once and before its update, but the writes were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 4, "changed", "A note whose creation was delivered", policy: .cacheFirst)
        }
        try await stage.expectNothingPending()
    }

    /// A pending deletion hides the entity, even after a restart, and is sent once.
    private func deletionViolations(_ stage: NoteStage) async throws {
        try await stage.process { notes, _ in
            _ = try await notes.entity(1)
            _ = try await notes.entities()
            await notes.flush()
            stage.upstream.goOffline()
            try await notes.delete(1)
            await stage.expect(notes, 1, nil, "A deleted note")
        }
        try await stage.process { notes, outbox in
            await stage.expect(notes, 1, nil, "A note deleted before a restart")
            await stage.deliver(outbox)
            stage.require(
                stage.upstream.writes == ["DELETE 1"],
                "A deletion must be delivered once, but the writes were \(stage.upstream.writes)."
            )
            await stage.expect(notes, 1, nil, "A note whose deletion was delivered")
        }
        try await stage.expectNothingPending()
        stage.upstream.goOffline()
        try await stage.process { notes, _ in
            await stage.expect(notes, 1, nil, "A note whose deletion was delivered before a restart")
        }
    }

    /// Two users of one store do not see each other's data or pending writes.
    private func partitionViolations(_ stage: NoteStage) async throws {
        try await stage.process(of: "ada") { notes, _ in
            _ = try await notes.entity(1)
            stage.upstream.goOffline()
            try await notes.update(1) { $0.text = "ada's" }
        }
        try await stage.process(of: "bob") { notes, outbox in
            await stage.expect(notes, 1, nil, "A note that another user has read and updated")
            let pending = try await outbox.contents().pending.count
            stage.require(pending == 0, "The writes of another user must not be pending, but \(pending) are.")
            stage.upstream.goOffline(false)
            _ = try await notes.entity(1)
            await notes.flush()
            notes.invalidateAll()
        }
        stage.upstream.goOffline()
        try await stage.process(of: "ada") { notes, outbox in
            await stage.expect(notes, 1, "ada's", "A note updated before another user signed in", isPending: true)
            await stage.deliver(outbox)
        }
        stage.require(
            stage.upstream.writes == ["PATCH 1 ada's"],
            "Each user's writes must be delivered once, but were \(stage.upstream.writes)."
        )
    }

    /// No write is lost among many concurrent ones.
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
                "All of \(ids.count) updates must be pending after a restart, but \(count) are."
            )
            await stage.deliver(outbox)
        }
        let updated = ids.filter { stage.upstream.text(at: $0) == "\($0)" }.count
        stage.require(updated == ids.count, "All of \(ids.count) updates must be delivered, but \(updated) are.")
        try await stage.expectNothingPending()
    }
}
