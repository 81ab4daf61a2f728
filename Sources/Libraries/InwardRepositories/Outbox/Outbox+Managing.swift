import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// The number and size of the pending writes and dead letters, and whether delivery is paused.
    ///
    /// ```swift
    /// func report(_ outbox: Outbox) {
    ///     let status = outbox.status
    ///     print(status.pendingCount, "pending,", status.deadLetterCount, "refused")
    ///     if let pause = status.pause { print("Paused until \(pause.until): \(pause.cause)") }
    /// }
    /// ```
    ///
    /// - Complexity: O(n) in the number of pending writes.
    public var status: OutboxStatus {
        let date = now()
        return state.withLock { state in
            OutboxStatus(
                pendingCount: state.partitions.count + state.unreadableCount,
                outcomeUnknownCount: state.partitions.outcomeUnknownCount,
                undeliverableCount: state.partitions.undeliverableCount + state.unreadableCount,
                pendingBytes: state.partitions.byteCount,
                deadLetterCount: state.deadLetterCount,
                deadLetterBytes: state.deadLetterBytes,
                oldestAcceptedAt: state.partitions.oldestAcceptedAt,
                pause: state.streak.isPaused ? state.streak.record(at: timer.now, date).pause : nil
            )
        }
    }

    /// Lists the pending writes and the dead letters.
    ///
    /// ```swift
    /// func listRefused(in outbox: Outbox) async throws {
    ///     for letter in try await outbox.contents().deadLetters { print(letter.id, letter.cause ?? "") }
    /// }
    /// ```
    ///
    /// - Complexity: O(n) in the number of writes.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func contents() async throws(RecordStoreError) -> OutboxContents {
        var contents = try await OutboxContents(of: store, under: records.prefix)
        let (time, date) = (timer.now, now())
        if state.withLock(\.phase) == .open { contents.pause = status.pause }
        state.withLock { state in
            let live = state.partitions.items
            for (place, item) in contents.pending.enumerated() {
                guard let (item, isUnderWay) = live[item.id] else { continue }
                var listed = OutboxItem(item)
                if isUnderWay { listed.state = .sending }
                if case .delivery(let delivery) = item, let moment = delivery.nextAttempt, moment > time, !isUnderWay {
                    listed.nextAttempt = date.addingTimeInterval((moment - time) / .seconds(1))
                }
                contents.pending[place] = listed
            }
        }
        return contents
    }

    /// The ``counts`` since the outbox was opened.
    public func outcomes() async -> OutboxCounts { counts }

    /// Ends the wait of a pending write and of the earlier writes of its subject, or makes a refused write pending again.
    ///
    /// ```swift
    /// func retry(_ item: OutboxItem, in outbox: Outbox) async throws {
    ///     guard let entry = try await outbox.retry(item.id) else { return }  // no longer there
    ///     try await outbox.settlement(of: entry)
    /// }
    /// ```
    ///
    /// A refused write is accepted again, after the pending writes of its subject. It gets a new idempotency key, because the
    /// upstream may answer the old one with the same refusal again.
    ///
    /// If the creation of an entity and changes of it were refused, they are accepted together, because the changes cannot be sent
    /// without the creation. To send the creation alone, discard the changes first.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: the pending entry, or `nil` if there is no such write.
    /// - Throws: a ``RecordStoreError`` if the write cannot be sent: `denied` if it is held, is being discarded, or cannot be
    ///   read. Also throws the errors of ``accept(_:with:)``.
    @discardableResult
    public func retry(_ id: String) async throws(RecordStoreError) -> OutboxEntry? {
        try await retryWrites(id).entry
    }

    /// Sends a write again as ``retry(_:)`` does, and returns its entry and how many writes are sent again together.
    private func retryWrites(_ id: String) async throws(RecordStoreError) -> (entry: OutboxEntry?, count: Int) {
        try await openIfNeeded()
        guard state.withLock(\.phase) == .open else { throw Self.notOpen }
        if let (item, _, _) = state.withLock({ $0.partitions.item(id) }) {
            if case .held(let held) = item { throw Self.denied("The write \(id) is held: it \(held.reason).") }
            guard case .delivery(let delivery) = item else { throw Self.denied("The write \(id) is being discarded.") }
            sendNow(delivery.entry)
            return (delivery.entry, 1)
        }
        if id == OutboxItem.unknownLossesID || state.withLock({ $0.misnamed[id] != nil }) {
            throw Self.denied("“\(id)” is not a write and cannot be sent: discard it.")
        }
        let ticket = try await locks.take([records.dead])
        defer { locks.release(ticket) }
        guard let (key, item) = try await deadLetter(id) else { return (nil, 0) }
        guard let letter = DeadLetter(key, item) else {
            throw Self.denied("The refused write \(id) cannot be read, so it cannot be sent again: discard it.")
        }
        let letters = letter.sentAgain(among: try await readableDeadLetters())
        let entries = try await acceptAgain(letters)
        state.withLock { state in
            for letter in letters { state.removeDeadLetter(letter.byteCount) }
        }
        let entry = zip(letters, entries).first { $0.0.id == id }?.1
        if let entry { sendNow(entry) }
        return (entry, entries.count)
    }

    private func readableDeadLetters() async throws(RecordStoreError) -> [DeadLetter] {
        try await store.records(under: records.dead).compactMap { key, record in
            OutboxEntryName(key, under: records.dead).flatMap { name in
                DeadLetter(key, DeadLetterDTO.item(from: record.bytes, named: name))
            }
        }
    }

    /// Stores a write that depends on the pending writes of its subject, and then delivers it.
    ///
    /// - Parameters:
    ///   - subject: The subject of the write.
    ///   - letter: The ``OutboxItem/id`` of the dead letter that the write replaces, in the same commit, or `nil` for none.
    ///   - make: Returns the write, or `nil` to accept none. It is called once, and while it runs, no other write of the subject
    ///     is accepted or settled. It is not called if there is no such dead letter.
    /// - Returns: the entry, or `nil` if nothing was accepted.
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    @discardableResult
    public func accept(
        in subject: RecordKey,
        replacing letter: String?,
        making make: () -> OutboxWrite?
    ) async throws(RecordStoreError) -> OutboxEntry? {
        guard let id = letter else { return try await accept(in: subject, removing: nil, make) }
        try await openIfNeeded()
        let ticket = try await locks.take([records.dead])
        defer { locks.release(ticket) }
        guard let (key, letter) = try await deadLetter(id),
            let entry = try await accept(in: subject, removing: key, make)
        else { return nil }
        state.withLock { $0.removeDeadLetter(letter.byteCount) }
        tellOfChange()
        return entry
    }

    /// Sends a pending write now, without further waiting. If delivery is paused, the write is the next probe.
    private func sendNow(_ entry: OutboxEntry) {
        state.withLock { state in
            state.delivers = true
            state.partitions.prefer(entry.write.subject)
            state.streak.probeNow(at: timer.now)
        }
        pump()
    }

    /// Makes all readable dead letters pending again, in the order they were accepted.
    ///
    /// - Returns: the number of writes that were made pending.
    /// - Throws: a ``RecordStoreError`` if a write cannot be accepted. The writes before it are pending again.
    @discardableResult
    public func retryDeadLetters() async throws(RecordStoreError) -> Int {
        var count = 0
        for letter in try await contents().deadLetters where letter.write != nil {
            count += try await retryWrites(letter.id).count
        }
        return count
    }

    /// Sends all waiting writes now. If delivery is paused, sends one write as a probe.
    public func retryNow() {
        state.withLock { state in
            state.delivers = true
            state.partitions.wakeAll { _ in true }
            state.streak.probeNow(at: timer.now)
        }
        pump()
    }

    /// Sends the writes whose credentials the upstream rejected, without further waiting. Call it when there are new
    /// credentials.
    public func retryDenied() {
        state.withLock { state in
            state.credentialsSerial += 1
            state.partitions.wakeAll(where: \.isDenied)
        }
        pump()
    }

    /// Removes a pending or refused write permanently. If it was pending, readers see the previous value again.
    ///
    /// ```swift
    /// func discardRefused(in outbox: Outbox) async throws {
    ///     for letter in try await outbox.contents().deadLetters { try await outbox.discard(letter.id) }
    /// }
    /// ```
    ///
    /// Callers that wait for the ``settlement(of:)`` of the write get an error: `refused`, or `outcomeUnknown` if the upstream
    /// may have done the write.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: whether there was such a write.
    /// - Throws: a ``RecordStoreError`` if nothing was removed: `denied` if the write is being sent, or is done but not settled
    ///   yet.
    @discardableResult
    public func discard(_ id: String) async throws(RecordStoreError) -> Bool {
        try await openIfNeeded()
        guard state.withLock(\.phase) == .open else { throw Self.notOpen }
        if id == OutboxItem.unknownLossesID { return try await acknowledgeLosses() }
        if let (_, subject, _) = state.withLock({ $0.partitions.item(id) }) {
            return try await discardPending(id, of: subject)
        }
        let ticket = try await locks.take([records.dead])
        defer { locks.release(ticket) }
        if let (key, letter) = try await deadLetter(id) {
            try await commit([], adding: [.remove(key)])
            state.withLock { $0.removeDeadLetter(letter.byteCount) }
            tellOfChange()
            return true
        }
        guard let key = state.withLock({ $0.misnamed[id] }) else { return false }
        try await commit([], adding: [.remove(key)])
        state.withLock { $0.misnamed[id] = nil }
        tellOfChange()
        return true
    }

    /// Acknowledges the loss of records that the store cannot name, and sends the writes that are held because of it.
    ///
    /// - Returns: whether there are such losses.
    private func acknowledgeLosses() async throws(RecordStoreError) -> Bool {
        // Wait until no held write is being discarded.
        let ticket = try await locks.take(state.withLock(\.partitions.heldSubjects))
        defer { locks.release(ticket) }
        guard let losses = state.withLock(\.unknownLosses) else { return false }
        try await commit([], adding: [records.acknowledgment(of: losses)])
        let (time, date) = (timer.now, now())
        state.withLock { state in
            state.unknownLosses = nil
            state.partitions.release { OutboxDelivery($0, $1, at: time, date, policy) }
        }
        pump()
        return true
    }

    private func discardPending(_ id: String, of subject: RecordKey) async throws(RecordStoreError) -> Bool {
        let ticket = try await locks.take([subject])
        defer { locks.release(ticket) }
        // From now on, the write is not sent. This throws if it is being delivered.
        guard let (item, handlers) = try state.withLock({ state throws(RecordStoreError) in try state.setAside(id) })
        else {
            return false
        }
        do throws(RecordStoreError) {
            var settlements: [OutboxSettlement] = []
            let error = RepositoryError(
                item.mayHaveArrived ? .outcomeUnknown : .refused,
                request: item.entry.map { request(for: $0).description } ?? "The write",
                explanation: "was discarded"
            )
            if let entry = item.entry {
                let later = laterEntries(behind: entry)
                for handler in handlers where handler.declares(entry.write) {
                    settlements.append(try await handler.refused(entry, because: error, before: later))
                }
            }
            let revised = settlements.first?.revised ?? []
            let keeping = try revised.map { entry throws(RecordStoreError) in try records.keeping(entry) }
            try await commit(settlements.flatMap(\.changes), adding: records.removal(of: item.name) + keeping)
            for settlement in settlements { settlement.whenCommitted() }
            let waiters = state.withLock { state in
                for entry in revised { state.partitions.revise(entry) }
                if let entry = item.entry { state.remember(error, of: entry) }
                state.endDiscarding(id, isRemoved: true)
                return state.endWaiters.removeValue(forKey: id) ?? []
            }
            for waiter in waiters { waiter.fulfill(.failure(error)) }
        } catch {
            state.withLock { $0.endDiscarding(id, isRemoved: false) }
            pump()
            throw error
        }
        pump()
        return true
    }

    /// Returns the record key and the item of a dead letter.
    private func deadLetter(_ id: String) async throws(RecordStoreError) -> (RecordKey, OutboxItem)? {
        for (key, record) in try await store.records(under: records.dead) {
            guard let name = OutboxEntryName(key, under: records.dead) else {
                guard key.description == id else { continue }
                return (key, OutboxItem(unreadable: id, .damaged(""), byteCount: record.bytes.count))
            }
            if name.idempotencyKey == id { return (key, DeadLetterDTO.item(from: record.bytes, named: name)) }
        }
        for key in try await store.losses(under: records.dead).keys {
            guard OutboxEntryName(key, under: records.dead)?.idempotencyKey == id else { continue }
            return (key, OutboxItem(unreadable: id, .lost, byteCount: 0))
        }
        return nil
    }

    /// Returns the first pending entry of a subject, if any.
    public func firstPending(of subject: RecordKey) -> OutboxEntry? {
        state.withLock { $0.partitions.first(of: subject) }
    }

    /// Returns the entries of the same subject that follow an entry. They do not change while the subject's lock is held.
    func laterEntries(behind entry: OutboxEntry) -> LaterEntries {
        LaterEntries { [self] in
            state.withLock { $0.partitions.entries(behind: entry.idempotencyKey, of: entry.write.subject) }
        }
    }

    private static func denied(_ explanation: String) -> RecordStoreError {
        RecordStoreError(.denied, explanation: explanation)
    }
}
