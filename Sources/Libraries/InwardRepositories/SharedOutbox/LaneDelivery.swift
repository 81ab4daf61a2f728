import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Delivers the entries of a lane under a lease, one after another.
///
/// Its steps have the names of those in the model: `note`, `send`, `settle` and `postpone`. Each commit has the condition that
/// the lease is still the last one. If it is not, another instance has taken over, and this one stops.
struct LaneDelivery: Sendable {
    /// How the delivery goes on.
    enum Next {
        /// With the first entry of the lane.
        case goOn
        /// Later, when the lease has run out.
        case wait(Duration)
        /// Not here: nothing is pending, or another instance has taken over.
        case end
    }

    /// The first entry of the lane, as it was read.
    struct Work {
        var head: RecordSnapshot
        var numbers: LaneHead
        var entry: OutboxEntry
        let note: AttemptNote?
        var history: DeliveryHistory
        /// When the first attempt that may have arrived began.
        var firstAttempt: Date?
        let handler: any OutboxHandler

        var number: Int { numbers.first }
    }

    /// The end of an entry.
    struct Ending {
        let outcome: Result<DataResponse, RepositoryError>
        /// When the attempt began, by the timer.
        let start: Duration
        /// The upstream's version, if it wins over the entry.
        var droppedFor: OutboxWrite.Version?
        /// Both versions of the resource, if the entry becomes a dead letter because of a conflict.
        var conflict: OutboxConflict?
    }

    let outbox: SharedOutbox
    let lane: OutboxLane
    let lease: RecordLease
    let destination: OutboxDestination
    /// When the lease runs out, by the clock of this machine. That clock was read before the lease was requested, so the lease
    /// lasts longer in the store.
    var leaseEnd: Duration
    /// The number of the first entry, as far as known.
    var first: Int
    /// The entries after the first one, as far as they were read.
    var laterEntries: [OutboxEntry] = []

    var records: SharedOutboxRecords { outbox.records }
    var policy: SharedOutboxPolicy { outbox.policy }

    /// Delivers entries until none is pending, one has to wait, or another instance has taken over.
    mutating func run() async {
        do throws(RecordStoreError) {
            while !outbox.isStopping {
                switch try await deliverFirst() {
                case .goOn: continue
                case .wait(let duration): return try await free(in: duration)
                case .end: return
                }
            }
            try await free(in: .zero)
        } catch {
            // If the reason is `conflict`, another instance has taken over. Otherwise, some instance goes on when the lease has
            // run out. Until then, a store that does not answer is spared.
        }
    }

    /// Lets the lease run out after a duration.
    private func free(in duration: Duration) async throws(RecordStoreError) {
        _ = try await outbox.store.extend(lease, for: duration)
    }

    /// Renews the lease if it does not last for another attempt.
    ///
    /// - Returns: whether the lease is still the last one.
    private mutating func renew() async throws(RecordStoreError) -> Bool {
        let now = outbox.timer.now
        guard leaseEnd - now < policy.delivery.attemptLimit + SharedOutboxPolicy.margin else { return true }
        guard try await outbox.store.extend(lease, for: policy.leaseDuration) else { return false }
        leaseEnd = now + policy.leaseDuration
        return true
    }

    private mutating func deliverFirst() async throws(RecordStoreError) -> Next {
        guard try await renew() else { return .end }
        switch try await readEntry() {
        case nil: return .end
        case .failure(let error):
            outbox.errorHandler.handle(error)
            return .wait(policy.holdInterval)
        case .success(var work):
            if work.note?.isHeld == true { return .wait(policy.holdInterval) }
            guard let observer = outbox.observer else { return try await deliver(&work) }
            return try await observer.surround(.delivery(work.entry)) { () async throws(RecordStoreError) in
                try await deliver(&work)
            }
        }
    }

    /// Reads the head, the first entry and its note at the same moment.
    ///
    /// - Returns: the entry, why it cannot be delivered, or `nil` if none is pending.
    private mutating func readEntry() async throws(RecordStoreError) -> Result<Work, UndeliverableEntryError>? {
        while true {
            let key = records.entry(first, of: lane)
            let keys = [records.head(of: lane), key, records.note(first, of: lane)]
            let snapshots = try await outbox.store.snapshots(for: keys)
            guard let head = snapshots[0] else { return nil }
            do throws(UndeliverableEntryError) {
                let numbers = try LaneHead(head)
                guard numbers.first == first else {
                    first = numbers.first
                    continue
                }
                return .success(try work(head, numbers, snapshots[1]?.record, snapshots[2]?.record))
            } catch {
                return .failure(error)
            }
        }
    }

    private func work(
        _ head: RecordSnapshot,
        _ numbers: LaneHead,
        _ record: StoredRecord?,
        _ noteRecord: StoredRecord?
    ) throws(UndeliverableEntryError) -> Work {
        let key = records.entry(numbers.first, of: lane)
        guard let record else { throw UndeliverableEntryError(key, .lost) }
        let note = noteRecord.map { AttemptNote($0.bytes) }
        let entry: OutboxEntry
        do throws(OutboxEntryDTO.Problem) {
            // An attempt without an outcome counts, so that a write that crashes its process is not sent forever.
            let attempts = note.map { $0.attempts + ($0.isSending ? 1 : 0) } ?? 0
            entry = try LaneEntryDTO.entry(from: record.bytes, number: numbers.first, attempts: attempts)
        } catch {
            throw UndeliverableEntryError(key, .init(error))
        }
        let handler = destination.handler(of: entry.write.endpoint)
        if let objection = handler.objection(to: entry.write) { throw UndeliverableEntryError(key, objection) }
        guard let handler else { throw UndeliverableEntryError(key, .unsettled(endpoint: entry.write.endpoint)) }
        let history = DeliveryHistory(
            mayHaveArrived: note.map { $0.mayHaveArrived || $0.isSending } ?? false,
            conflicts: note?.conflicts ?? 0,
            refusalsAreFinal: handler.terms.storesRefusals
        )
        return Work(
            head: head,
            numbers: numbers,
            entry: entry,
            note: note,
            history: history,
            firstAttempt: history.mayHaveArrived ? note?.firstAttemptDate ?? entry.acceptedAt : nil,
            handler: handler
        )
    }

    // MARK: An attempt

    /// Sends an entry once, and settles or postpones it.
    private mutating func deliver(_ work: inout Work) async throws(RecordStoreError) -> Next {
        let start = outbox.timer.now
        if let limit = work.handler.terms.attemptLimit, work.entry.attempts >= limit {
            let error = RepositoryError(.outcomeUnknown, request: work.entry.name, explanation: "was not answered")
            return try await giveUp(work, after: work.entry.attempts, because: error, start)
        }
        // An entry that may have arrived must be repeated unchanged.
        if !work.history.mayHaveArrived {
            switch try await work.handler.preparation(of: work.entry) {
            case .ready: break
            case .refused(let error): return try await settle(work, Ending(outcome: .failure(error), start: start))
            case .revised(let write): try await revise(&work, to: write)
            }
        }
        try await note(&work)
        // The model's local check. If the instance is suspended after it, the entry may be sent twice, with the same key.
        guard outbox.timer.now < leaseEnd else { return .goOn }
        if work.history.mayHaveArrived, let date = work.firstAttempt,
            outbox.now().timeIntervalSince(date) >= policy.resendLimit / .seconds(1)
        {
            return try await hold(work, because: .resendLimit(policy.resendLimit))
        }
        let request = work.entry.request(to: destination.upstream)
        guard let outcome = await outbox.attempt(request, through: destination.upstream.dataFetcher) else {
            return .wait(.zero)
        }
        switch work.history.add(outcome, of: request, at: outbox.now()) {
        case .delivered(let response):
            return try await settle(work, Ending(outcome: .success(response), start: start))
        case .refused(let error):
            return try await settle(work, Ending(outcome: .failure(error), start: start))
        case .conflicting(let error): return try await resolve(&work, error, start)
        case .again(let error, let delay):
            // The attempt was cancelled, which does not count.
            if outbox.isStopping {
                try await keep(note(of: work), of: work)
                return .wait(.zero)
            }
            return try await postpone(&work, because: error, retryAfter: delay, start)
        }
    }

    /// Notes that the entry may have arrived, before it is sent.
    private func note(_ work: inout Work) async throws(RecordStoreError) {
        work.firstAttempt = work.firstAttempt ?? outbox.now()
        try await keep(note(of: work, isSending: true), of: work)
    }

    /// Returns the note of an entry that is about to be sent, or whose attempt was cancelled.
    private func note(of work: Work, isSending: Bool = false) -> AttemptNote {
        AttemptNote(
            attempts: work.entry.attempts,
            mayHaveArrived: work.history.mayHaveArrived,
            isSending: isSending,
            cause: work.note?.cause,
            firstAttempt: isSending || work.history.mayHaveArrived ? work.firstAttempt : nil,
            conflicts: work.history.conflicts
        )
    }

    /// Stores a note under the condition that the lease is still the last one.
    func keep(_ note: AttemptNote, of work: Work) async throws(RecordStoreError) {
        try await outbox.store.commit(
            [.keep(StoredRecord(note.bytes), records.note(work.number, of: lane))],
            if: [.isLeased(lease)]
        )
    }

    /// Replaces the write in an entry. The revised write has not been sent.
    private func revise(_ work: inout Work, to write: OutboxWrite) async throws(RecordStoreError) {
        let entry = work.entry.revised(to: write)
        let note = AttemptNote(attempts: entry.attempts, mayHaveArrived: false, cause: work.note?.cause)
        let head = records.head(of: lane)
        var isStored = false
        while !isStored {
            // The head changes, too, so that a write that others make for the earlier content is made again.
            let changes: [RecordChange] = [
                .keep(try LaneEntryDTO.record(of: entry), records.entry(work.number, of: lane)),
                .keep(StoredRecord(note.bytes), records.note(work.number, of: lane)),
                .keep(work.numbers.record, head),
                .announce(records.heads(of: lane.partition)),
            ]
            let outcome = await Result { () async throws(RecordStoreError) in
                try await outbox.store.commit(changes, if: [.isLeased(lease), .isUnchanged(head, since: work.head)])
            }
            if case .failure(let error) = outcome, error.reason != .conflict { throw error }
            isStored = (try? outcome.get()) != nil
            guard let snapshot = try await outbox.store.snapshot(for: head), let numbers = try? LaneHead(snapshot),
                isStored || snapshot.version != work.head.version
            else {
                // Another instance has taken over.
                throw RecordStoreError(.conflict, explanation: "The lease of \(head) was lost.")
            }
            (work.head, work.numbers) = (snapshot, numbers)
        }
        work.entry = entry
        if work.handler.declares(write) { work.handler.revised([entry]) }
    }

    /// Asks the handler how to resolve a conflict of versions.
    private mutating func resolve(
        _ work: inout Work,
        _ error: RepositoryError,
        _ start: Duration
    ) async throws(RecordStoreError) -> Next {
        var ending = Ending(outcome: .failure(error), start: start)
        switch try await work.handler.resolution(of: work.entry, because: error) {
        case nil, .refused: break
        case .conflict(let conflict): ending.conflict = conflict
        case .dropped(let version): ending.droppedFor = version
        case .revised(let write):
            // The wait prevents an upstream with a conflict each time from being asked without end.
            work.entry.attempts += 1
            try await revise(&work, to: write)
            return .wait(policy.delivery.wait(after: work.entry.attempts, retryAfter: nil))
        }
        return try await settle(work, ending)
    }
}
