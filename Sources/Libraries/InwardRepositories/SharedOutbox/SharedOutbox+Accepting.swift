import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedOutbox {
    /// Stores writes and changes in one commit. Some instance then delivers the writes in the background.
    ///
    /// ```swift
    /// func rename(_ user: Int, in outbox: SharedOutbox) async throws {
    ///     let body = Array(#"{"name": "Ada"}"#.utf8)
    ///     let path = "users/\(user)"
    ///     try await outbox.accept(
    ///         [OutboxWrite(endpoint: "users", subject: ["users", "\(user)"], method: .put, path: path, body: body)],
    ///         in: "users/\(user)"
    ///     )
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Those of one subject are delivered in this order, after those that were accepted before.
    ///   - partition: The name of the partition, usually that of a user. It decides where the writes go.
    ///   - changes: The changes to make in the store in the same commit.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError``. Unless its reason is `outcomeUnknown`, nothing was accepted or changed. The reason is
    ///   `full` if too many writes of a subject are pending. It is `denied` if a write has no handler, is not among the
    ///   operations that its handler declares, or is too large, or if a change affects the outbox's own records. It is
    ///   `cancelled` if the task was cancelled before the commit began. Otherwise it is the reason of the store.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        in partition: String,
        with changes: [RecordChange] = []
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(
            Acceptance(writes: writes, partition: partition, changes: changes),
            to: try await destination(partition)
        )
    }

    /// Accepts writes (`accept` in the model).
    func accept(
        _ acceptance: Acceptance,
        to destination: OutboxDestination
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try throwUnlessAcceptable(acceptance, destination)
        guard !acceptance.writes.isEmpty || !acceptance.changes.isEmpty else { return [] }
        let lanes = acceptance.writes.map { write in
            OutboxLane(of: write, in: acceptance.partition, destination.terms(of: write.endpoint))
        }
        let keys = acceptance.writes.map { _ in randomKey() }
        // Otherwise, each commit to a lane would make the commits of all other tasks in this process fail.
        let ticket = try await locks.take(Set(lanes.map { records.head(of: $0) }))
        defer { locks.release(ticket) }
        let partition = partition(ifUsed: acceptance.partition)
        let reading = partition?.readingCount ?? 0
        while true {
            let plan = try await plan(acceptance, lanes, keys)
            let outcome = await Result { () async throws(RecordStoreError) in
                try await store.commit(plan.changes, if: plan.conditions + acceptance.conditions)
            }
            if case .failure(let error) = outcome {
                // Another instance has accepted or settled an entry of the same lane in the meantime.
                guard error.reason == .conflict, try await isStillMet(acceptance.conditions) else { throw error }
                continue
            }
            count { $0.accepted += plan.entries.count }
            partition?.countAccepted(plan.entries.count)
            if partition?.show(accepted: plan.entries, since: reading) == false {
                partition?.becomeOutdated()
                // The writes are accepted, so an error of this reading is not theirs. It is done again later.
                try? await partition?.showPending()
            }
            observer?.writesAccepted(plan.entries)
            startDelivering()
            return plan.entries
        }
    }

    /// What to accept.
    struct Acceptance {
        let writes: [OutboxWrite]
        let partition: String
        /// The changes to make in the same commit.
        var changes: [RecordChange] = []
        /// Changes of the outbox's own records to make in the same commit.
        var ownChanges: [RecordChange] = []
        /// Further conditions of the commit.
        var conditions: [RecordCondition] = []
        /// When each of the writes was first accepted, or `nil` for now.
        var dates: [Date]?
    }

    /// The changes and conditions of a commit that accepts entries.
    private struct Plan {
        var changes: [RecordChange]
        var conditions: [RecordCondition] = []
        var entries: [OutboxEntry] = []
    }

    /// Reads the heads of lanes, and numbers the writes.
    private func plan(
        _ acceptance: Acceptance,
        _ lanes: [OutboxLane],
        _ keys: [String]
    ) async throws(RecordStoreError) -> Plan {
        let unique = Array(Set(lanes))
        let snapshots = try await store.snapshots(for: unique.map { records.head(of: $0) })
        var plan = Plan(changes: acceptance.changes + acceptance.ownChanges)
        var heads: [OutboxLane: (first: Int, next: Int)] = [:]
        var pending: Set<RecordKey> = []
        for (lane, snapshot) in zip(unique, snapshots) {
            plan.conditions.append(.isUnchanged(records.head(of: lane), since: snapshot))
            guard let head = try snapshot.map(head) else { continue }
            heads[lane] = (head.first, head.next)
            pending.formUnion(try await subjects(of: lane, in: acceptance.writes))
        }
        let date = now()
        for (place, ((write, lane), key)) in zip(zip(acceptance.writes, lanes), keys).enumerated() {
            let head = heads[lane] ?? (1, 1)
            guard head.next - head.first < policy.maximumPending else { throw Self.full(write, policy) }
            var write = write
            // A write that follows a pending write of its subject is for the version that results from it.
            if case .entityTag = write.version, pending.contains(write.subject) {
                write = write.made(for: .previousWrite)
            }
            pending.insert(write.subject)
            let entry = OutboxEntry(
                sequence: head.next,
                write: write,
                idempotencyKey: key,
                acceptedAt: (acceptance.dates?[place] ?? date).roundedToMilliseconds,
                attempts: 0,
                pendingNumber: OutboxEntry.pendingNumber(of: key)
            )
            plan.entries.append(entry)
            plan.changes.append(.keep(try LaneEntryDTO.record(of: entry), records.entry(head.next, of: lane)))
            heads[lane] = (head.first, head.next + 1)
        }
        for (lane, head) in heads {
            plan.changes.append(.keep(LaneHead(first: head.first, next: head.next).record, records.head(of: lane)))
        }
        if !plan.entries.isEmpty { plan.changes.append(.announce(records.heads(of: acceptance.partition))) }
        return plan
    }

    /// Returns the subjects of pending writes of a lane, as far as they matter for new writes.
    private func subjects(of lane: OutboxLane, in writes: [OutboxWrite]) async throws(RecordStoreError) -> Set<
        RecordKey
    > {
        guard lane.subject.components.isEmpty else { return [lane.subject] }
        let isNeeded = writes.contains { if case .entityTag = $0.version { true } else { false } }
        return isNeeded ? Set(try await pendingEntries(of: lane).map(\.write.subject)) : []
    }

    private func head(_ snapshot: RecordSnapshot) throws(RecordStoreError) -> LaneHead {
        do throws(UndeliverableEntryError) {
            return try LaneHead(snapshot)
        } catch {
            throw RecordStoreError(.unavailable, explanation: "Nothing was accepted. \(error).")
        }
    }

    /// Returns whether conditions other than those of the outbox are met. Without any, it was the outbox's own ones that were not.
    private func isStillMet(_ conditions: [RecordCondition]) async throws(RecordStoreError) -> Bool {
        if conditions.isEmpty { return true }
        let outcome = await Result { () async throws(RecordStoreError) in try await store.commit([], if: conditions) }
        if case .failure(let error) = outcome, error.reason == .conflict { return false }
        return true
    }

    private func throwUnlessAcceptable(
        _ acceptance: Acceptance,
        _ destination: OutboxDestination
    ) throws(RecordStoreError) {
        for change in acceptance.changes { try change.throwIfAffecting(records.prefix) }
        for write in acceptance.writes {
            try write.throwIfTooLarge(policy.delivery)
            let handler = destination.handler(of: write.endpoint)
            if let objection = handler.objection(to: write) {
                throw write.denied(because: objection, handler?.operations ?? [])
            }
        }
    }

    private static func full(_ write: OutboxWrite, _ policy: SharedOutboxPolicy) -> RecordStoreError {
        RecordStoreError(
            .full,
            explanation: """
                \(policy.maximumPending) writes of \(write.subject) are pending, and no more are allowed: nothing was accepted. \
                Accept the write again when some of them are delivered.
                """
        )
    }
}

extension (any OutboxHandler)? {
    /// Returns why a write cannot be sent, or `nil` if this is its handler and declares the operation.
    func objection(to write: OutboxWrite) -> UndeliverableEntryError.Reason? {
        guard let self else { return .unsettled(endpoint: write.endpoint) }
        if self.declares(write) { return nil }
        return .undeclared(endpoint: write.endpoint, operation: OutboxOperation(write.method, write.path))
    }
}
