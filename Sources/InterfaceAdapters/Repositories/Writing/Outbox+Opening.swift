import Synchronization
import UseCases

extension Outbox {
    /// More make no wait longer. Whatever a record says, they can still be counted.
    private static let mostAttempts = 1_000_000

    /// Takes over what an earlier outbox left, tells the settlers of it, and begins to deliver.
    ///
    /// Entries that a newer version of the program wrote, that are damaged, or that nobody settles are kept as they are and told to
    /// the error handler, each as a ``HeldEntryError``; so is kept, and not sent, what stands behind them in the order of their
    /// subject.
    ///
    /// - Parameter settlers: Who settles what is accepted until the outbox is closed, each for an endpoint of its own. Others
    ///   ``join(settling:)`` them.
    /// - Throws: a ``RecordStoreError`` if it cannot be opened; it may be tried again, and is with the next write that is to be
    ///   accepted, unless it is `closed`, or `denied` because it is open already or two settlers are for one endpoint.
    public func open(settling settlers: [any OutboxSettler]) async throws(RecordStoreError) {
        let byEndpoint = try Self.byEndpoint(settlers)
        try Self.checkCanOpen(state.withLock(\.phase))
        // Who joins meanwhile waits, and is told of what is left behind that.
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        // Let go outside of the lock, because what their end does is not known.
        _ = try state.withLock { state throws(RecordStoreError) in
            try Self.checkCanOpen(state.phase)
            // Those of an earlier try are not theirs any more who try again.
            let earlier = state.opener
            state.opener = state.settlers.add(byEndpoint)
            return earlier.flatMap { state.settlers.remove($0) }
        }
        try await openInTurn()
    }

    private static func checkCanOpen(_ phase: OutboxState.Phase) throws(RecordStoreError) {
        switch phase {
        case .made: break
        case .opening, .open: throw RecordStoreError(.denied, explanation: "The outbox is open already.")
        case .closed: throw Self.notOpen
        }
    }

    /// Takes over what an earlier outbox left, tells those of it who are to settle it, and begins to deliver.
    private func openInTurn() async throws(RecordStoreError) {
        let token = randomKey()
        try state.withLock { state throws(RecordStoreError) in
            try Self.checkCanOpen(state.phase)
            state.phase = .opening
            state.token = token
            // A close waits until nothing is made durable any more, so that the next one is not taken over by this.
            state.acceptsUnderWay += 1
        }
        defer { endAccepting() }
        let left: LeftEntries
        do {
            // Before anything is read: what another outbox accepts behind this it finds out to be no longer its business.
            try await store.commit([.keep(StoredRecord(Array(token.utf8)), records.owner)])
            left = try await readEntries(state.withLock(\.settlers))
        } catch {
            state.withLock { state in
                guard state.phase == .opening else { return }
                (state.phase, state.hasFailedToOpen) = (.made, true)
            }
            throw error
        }
        let settlers = state.withLock(\.settlers)
        settlers.tell(of: left.readable)
        let isOpen = state.withLock { state in
            guard state.phase == .opening else { return false }
            (state.phase, state.hasFailedToOpen) = (.open, false)
            state.nextSequence = left.nextSequence
            for item in left.items {
                switch item {
                case .entry(let entry): state.lanes.append(entry, DeliveryHistory(mayHaveArrived: true))
                case .held(let entry, let subject): state.lanes.hold(entry, in: subject)
                }
            }
            return true
        }
        for problem in left.problems { errorHandler.handle(problem) }
        guard isOpen else { throw Self.notOpen }
        pump()
    }

    /// Opens it with those who have joined, unless it is open.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be opened; it may be tried again, and is with the next write that is to be
    ///   accepted, unless it is `closed`.
    public func open() async throws(RecordStoreError) {
        // One after the other: who comes second finds it open.
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        switch state.withLock(\.phase) {
        case .open: return
        case .made, .opening: try await openInTurn()
        case .closed: throw Self.notOpen
        }
    }

    /// Opens it if that was tried and failed: what was in its way, such as a full disk, may be so no more.
    ///
    /// - Throws: a ``RecordStoreError`` if it still cannot be opened.
    func openIfThatFailed() async throws(RecordStoreError) {
        if state.withLock(\.hasFailedToOpen) { try await open() }
    }

    /// Reads what is kept of entries, and removes what is kept of none.
    private func readEntries(
        _ settlers: OutboxSettlers
    ) async throws(RecordStoreError) -> LeftEntries {
        var attempts: [RecordKey: Int] = [:]
        var orphans: [RecordKey] = []
        let entries = try await store.records(under: records.entries)
        let names = Set(entries.compactMap { OutboxEntryName($0.key, under: records.entries) })
        for (key, record) in try await store.records(under: records.attempts) {
            guard let name = OutboxEntryName(key, under: records.attempts), names.contains(name) else {
                orphans.append(key)
                continue
            }
            let count = Int(String(decoding: record.bytes, as: UTF8.self)) ?? 0
            attempts[name.key(under: records.entries)] = min(max(0, count), Self.mostAttempts)
        }
        if !orphans.isEmpty { try await store.commit(orphans.map { .remove($0) }) }
        var left = LeftEntries()
        for (key, record) in entries {
            guard let name = OutboxEntryName(key, under: records.entries) else {
                left.problems.append(HeldEntryError(key, .damaged("it is not kept under what an entry is")))
                continue
            }
            left.add(
                OutboxEntryDTO.entry(from: record.bytes, named: name, attempts: attempts[key] ?? 0),
                named: name,
                under: key
            ) { settlers.settle($0) }
        }
        return left
    }
}
