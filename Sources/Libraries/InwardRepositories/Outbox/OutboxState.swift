import InwardCore

/// What an ``Outbox`` knows, under its lock.
struct OutboxState {
    /// How far the outbox has come.
    enum Phase: Hashable {
        /// It does not own its records: it was not opened yet, or another process has taken over since.
        case made
        case opening
        case open
        case closed
    }

    /// When the outbox wakes to send what has waited.
    struct Alarm {
        let moment: Duration
        let timer: TimerService.Timer
    }

    typealias Ending = Result<Void, RepositoryError>
    /// Whom the end of an outbox concerns: the tasks to cancel, who waits for the end of a write, and the alarm to call off.
    typealias End = (tasks: [Task<Void, Never>], waiters: [Promise<Ending>], alarm: Alarm?)

    /// How many refusals are remembered, for those who ask what became of a write when it is over.
    private static let maximumRefusals = 1_000

    var phase = Phase.made
    /// The ownership of the records; `nil` if it is not open.
    var claim: RecordClaim?
    /// Whether it sends what is pending, once it is open.
    var delivers = true
    var partitions: OutboxPartitions
    var turns = KeyedLock()
    var streak: RefusalStreak
    /// Whether the store has a record of the streak.
    var isStreakKept = false
    /// How many refused writes are kept, and how many bytes they have.
    var deadLetterCount = 0
    var deadLetterBytes = 0
    /// Records under the entries' prefix whose keys name no entry, by what they are listed as.
    var misnamed: [String: RecordKey] = [:]
    /// The losses of unknown records that nobody has acknowledged, as the store counts them; `nil` if there are none.
    var unknownLosses: Int?
    /// How many items are listed as pending that are no entries.
    var unreadableCount: Int { misnamed.count + (unknownLosses == nil ? 0 : 1) }
    var counts = OutboxCounts()
    var handlers = OutboxHandlers()
    /// Whom it was opened with, or was to be.
    var opener: OutboxMember?
    var nextSequence = 0
    /// What this outbox has written into the store to say that it delivers.
    var token = ""
    /// Grows with each news of other credentials.
    var credentialsSerial = 0
    /// The tasks that deliver, by the keys of their entries.
    var deliveries: [String: Task<Void, Never>] = [:]
    /// The keys of the entries that the upstream has answered for, and that are being settled.
    var answered: Set<String> = []
    var alarm: Alarm?
    /// How many calls make something durable at this moment, and who waits until none does.
    var acceptsUnderWay = 0
    var idleWaiters: [Promise<Void>] = []
    /// How many writes these are of, and how many bytes those have.
    var writesUnderWay = 0
    var bytesUnderWay = 0
    /// Who waits for a turn.
    var turnWaiters: [KeyedLock.Ticket: Promise<Void>] = [:]
    /// Who waits for the end of a write, by its key.
    var endWaiters: [String: [Promise<Ending>]] = [:]
    private var refusals: [String: RepositoryError] = [:]
    private var refusalOrder = FIFOQueue<String>()

    init(_ policy: OutboxPolicy) {
        partitions = OutboxPartitions(concurrency: policy.concurrency)
        streak = RefusalStreak(policy)
    }

    /// Why an entry was refused; `nil` if it was not, or is forgotten.
    func refusal(of entry: OutboxEntry) -> RepositoryError? { refusals[entry.idempotencyKey] }

    /// Takes down why an entry was refused.
    mutating func remember(_ refusal: RepositoryError, of entry: OutboxEntry) {
        refusals[entry.idempotencyKey] = refusal
        refusalOrder.append(entry.idempotencyKey)
        if refusalOrder.count > Self.maximumRefusals, let oldest = refusalOrder.popFirst() { refusals[oldest] = nil }
    }

    /// When to look for an entry to send, if nothing else happens until then; `nil` if that is of no use.
    mutating func wakeTime(at now: Duration) -> Duration? {
        switch streak.phase {
        case .running: return partitions.wakeTime
        case .probing: return nil
        case .paused(let end):
            if partitions.nextKey(at: now) != nil { return end }
            return partitions.wakeTime.map { max($0, end) }
        }
    }

    /// Has an entry that is under way wait until a moment.
    ///
    /// From then on somebody else may send it, whose task takes the place of the one that did.
    mutating func postpone(_ delivery: OutboxDelivery, until moment: Duration) {
        // A probe that was not answered leaves the question open for as long as its own wait.
        endDelivery(of: delivery.entry, nextProbeAt: moment)
        partitions.postpone(delivery, until: moment)
    }

    /// Forgets the task that delivers an entry. For that task, before anybody else may deliver it.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - now: When another probe may be sent, if this was one that told nothing of refusals.
    mutating func endDelivery(of entry: OutboxEntry, nextProbeAt now: Duration) {
        deliveries[entry.idempotencyKey] = nil
        answered.remove(entry.idempotencyKey)
        streak.end(entry.idempotencyKey, nextProbeAt: now)
    }

    /// Has a pending item not be sent any more, while it is discarded.
    ///
    /// - Returns: the item, and who settles its endpoint; `nil` if there is no such item.
    /// - Throws: a ``RecordStoreError`` if it is being sent.
    mutating func setAside(
        _ id: String
    ) throws(RecordStoreError) -> (item: OutboxPartitions.Item, handlers: [any OutboxHandler])? {
        guard let (item, _, isUnderWay) = partitions.item(id) else { return nil }
        guard !isUnderWay else {
            throw RecordStoreError(
                .denied,
                explanation: "The write \(id) is being sent at this moment: try again when its attempt has ended."
            )
        }
        if case .delivery(let delivery) = item, case .success? = delivery.answer {
            throw RecordStoreError(
                .denied,
                explanation: """
                    The upstream has done the write \(id), and only the store has not noted it yet: it cannot be undone by \
                    discarding it.
                    """
            )
        }
        partitions.suspend(id)
        return (item, item.entry.map { handlers.all(for: $0.write.endpoint) } ?? [])
    }

    /// Ends the discarding of an item.
    mutating func endDiscarding(_ id: String, isRemoved: Bool) {
        if isRemoved { partitions.remove(id) } else { partitions.resume(id) }
    }

    /// Notes that a refused write is kept.
    mutating func addDeadLetter(_ byteCount: Int) {
        deadLetterCount += 1
        deadLetterBytes += byteCount
    }

    /// Notes that a refused write is not kept any more.
    mutating func removeDeadLetter(_ byteCount: Int) {
        deadLetterCount -= 1
        deadLetterBytes -= byteCount
    }

    /// Why no more writes may be accepted; `nil` if these may be.
    func shortage(
        for count: Int,
        _ byteCount: Int,
        _ policy: OutboxPolicy,
        needsDeadLetterRoom: Bool
    ) -> String? {
        guard count > 0 else { return nil }
        let (writes, bytes) = (partitions.count + writesUnderWay, partitions.byteCount + bytesUnderWay)
        if writes + count > policy.maximumPending {
            return """
                \(writes) writes wait for the upstream to take them, and \(policy.maximumPending) may at the most. Do it again when \
                the upstream has taken some.
                """
        }
        if bytes + byteCount > policy.maximumPendingBytes {
            return """
                The writes that wait for the upstream have \(bytes) bytes, and \(policy.maximumPendingBytes) are allowed: there is \
                no room for \(byteCount) more. Do it again when the upstream has taken some.
                """
        }
        let areLettersFull =
            deadLetterCount >= policy.maximumDeadLetters || deadLetterBytes >= policy.maximumDeadLetterBytes
        if needsDeadLetterRoom, areLettersFull {
            return """
                The upstream has refused \(deadLetterCount) writes of \(deadLetterBytes) bytes, which are kept, and there is no \
                room for more. Retry or discard some.
                """
        }
        return nil
    }

    /// Ends the outbox for good, or until it is opened again.
    ///
    /// - Returns: who is to be told that it has ended.
    mutating func end(_ phase: Phase) -> End {
        self.phase = phase
        let tasks = deliveries.filter { !answered.contains($0.key) }.map(\.value)
        defer {
            endWaiters = [:]
            alarm = nil
        }
        return (tasks, endWaiters.values.flatMap(\.self), alarm)
    }

    /// Forgets what is known of the records, which another process may have changed since.
    mutating func forgetRecords(_ policy: OutboxPolicy) {
        let fresh = OutboxState(policy)
        partitions = fresh.partitions
        streak = fresh.streak
        isStreakKept = fresh.isStreakKept
        deadLetterCount = 0
        deadLetterBytes = 0
        misnamed = [:]
        unknownLosses = nil
    }
}
