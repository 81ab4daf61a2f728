import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// How much is pending, how much was refused and is kept, and whether delivery is paused.
    ///
    /// - Complexity: O(n) in the number of subjects with pending writes.
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

    /// Lists the pending and the refused writes.
    ///
    /// - Complexity: O(n) in their number.
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

    /// Sends a pending write now, whatever it waits for; or makes a refused one pending again.
    ///
    /// A refused write is accepted anew, behind what is pending of its subject, and with a new idempotency key: nothing was done
    /// under the old one, for which the upstream may repeat its refusal.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: the entry that is pending; `nil` if there is no such write.
    /// - Throws: a ``RecordStoreError`` if nothing was changed: as ``accept(_:with:)`` does, and with `denied` if the write is held or
    ///   cannot be read.
    @discardableResult
    public func retry(_ id: String) async throws(RecordStoreError) -> OutboxEntry? {
        try await openIfNeeded()
        guard state.withLock(\.phase) == .open else { throw Self.notOpen }
        if let (item, _, _) = state.withLock({ $0.partitions.item(id) }) {
            if case .held(let held) = item { throw Self.denied("The write \(id) is held: it \(held.reason).") }
            guard case .delivery(let delivery) = item else { throw Self.denied("The write \(id) is being discarded.") }
            sendNow(delivery.entry)
            return delivery.entry
        }
        if id == OutboxItem.unknownLossesID || state.withLock({ $0.misnamed[id] != nil }) {
            throw Self.denied("“\(id)” is no write that could be sent: discard it.")
        }
        let ticket = try await turn(for: [records.dead])
        defer { leave(ticket) }
        guard let (key, letter) = try await deadLetter(id) else { return nil }
        guard let write = letter.write, let date = letter.acceptedAt else {
            throw Self.denied("The refused write \(id) cannot be read, and so not be sent again: discard it.")
        }
        let entry = try await acceptAgain(write, removing: key, acceptedAt: date)
        state.withLock { $0.removeDeadLetter(letter.byteCount) }
        if let entry { sendNow(entry) }
        return entry
    }

    /// Sends a pending write now, whatever it waits for; if delivery is paused, as the next probe.
    private func sendNow(_ entry: OutboxEntry) {
        state.withLock { state in
            state.delivers = true
            state.partitions.prefer(entry.write.subject)
            state.streak.probeNow(at: timer.now)
        }
        pump()
    }

    /// Makes all refused writes pending again that can be read, in the order they were accepted.
    ///
    /// - Returns: how many there were.
    /// - Throws: a ``RecordStoreError`` as soon as one cannot be accepted; those before it are.
    @discardableResult
    public func retryDeadLetters() async throws(RecordStoreError) -> Int {
        var count = 0
        for letter in try await contents().deadLetters where letter.write != nil {
            if try await retry(letter.id) != nil { count += 1 }
        }
        return count
    }

    /// Sends everything now that waits, whatever it waits for; and one write if delivery is paused.
    public func retryNow() {
        state.withLock { state in
            state.delivers = true
            state.partitions.wakeAll { _ in true }
            state.streak.probeNow(at: timer.now)
        }
        pump()
    }

    /// Sends everything now that waits because the upstream did not take the credentials: there are others by now.
    public func retryDenied() {
        state.withLock { state in
            state.credentialsSerial += 1
            state.partitions.wakeAll(where: \.isDenied)
        }
        pump()
    }

    /// Removes a pending or a refused write for good. What readers saw of a pending one is undone.
    ///
    /// Whoever waits for the ``settlement(of:)`` of a pending one gets an error: `refused`, or `outcomeUnknown` if an attempt may
    /// have been done.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: whether there was such a write.
    /// - Throws: a ``RecordStoreError`` if nothing was removed: with `denied` if the write is being sent at this moment.
    @discardableResult
    public func discard(_ id: String) async throws(RecordStoreError) -> Bool {
        try await openIfNeeded()
        guard state.withLock(\.phase) == .open else { throw Self.notOpen }
        if id == OutboxItem.unknownLossesID { return try await acknowledgeLosses() }
        if let (_, subject, _) = state.withLock({ $0.partitions.item(id) }) {
            return try await discardPending(id, of: subject)
        }
        let ticket = try await turn(for: [records.dead])
        defer { leave(ticket) }
        if let (key, letter) = try await deadLetter(id) {
            try await commit([], adding: [.remove(key)])
            state.withLock { $0.removeDeadLetter(letter.byteCount) }
            return true
        }
        guard let key = state.withLock({ $0.misnamed[id] }) else { return false }
        try await commit([], adding: [.remove(key)])
        state.withLock { $0.misnamed[id] = nil }
        return true
    }

    /// Has the writes sent that are held because the store lost records it cannot name.
    ///
    /// - Returns: whether there are such losses.
    private func acknowledgeLosses() async throws(RecordStoreError) -> Bool {
        // Not while one of these writes is discarded.
        let ticket = try await turn(for: state.withLock(\.partitions.heldSubjects))
        defer { leave(ticket) }
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
        let ticket = try await turn(for: [subject])
        defer { leave(ticket) }
        // From here on it is not sent: a delivery that is under way keeps it.
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
            let name = item.name
            try await commit(settlements.flatMap(\.changes), adding: records.removal(of: name))
            for settlement in settlements { settlement.whenCommitted() }
            let waiters = state.withLock { state in
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

    /// A refused write by its name in lists, and what it is kept under.
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

    /// The entries of the same subject that stand behind one. They stay the same while the subject's turn is held.
    func laterEntries(behind entry: OutboxEntry) -> LaterEntries {
        LaterEntries { [self] in
            state.withLock { $0.partitions.entries(behind: entry.idempotencyKey, of: entry.write.subject) }
        }
    }

    private static func denied(_ explanation: String) -> RecordStoreError {
        RecordStoreError(.denied, explanation: explanation)
    }
}
