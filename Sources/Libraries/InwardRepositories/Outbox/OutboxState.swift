import InwardCore

/// The state of an ``Outbox``, protected by its lock.
struct OutboxState {
    /// The phase of an outbox's life cycle.
    enum Phase: Hashable {
        /// The outbox does not own its records: it has not been opened, or another process has taken over since.
        case made
        case opening
        case open
        case closed
    }

    /// The next scheduled wake-up.
    struct Alarm {
        let moment: Duration
        let timer: TimerService.Timer
    }

    typealias Ending = Result<Void, RepositoryError>
    /// What to clean up when an outbox ends: the tasks to cancel, the callers that wait for settlements or for deliveries, and
    /// the alarm.
    typealias End = (
        tasks: [Task<Void, Never>], waiters: [Promise<Ending>], drainWaiters: [Promise<Void>], alarm: Alarm?
    )

    /// The number of refusals to remember for callers that ask about the outcome of a settled write.
    private static let maximumRefusals = 1_000

    var phase = Phase.made
    /// The ownership of the records, or `nil` if the outbox is not open.
    var claim: RecordClaim?
    /// Whether the outbox sends pending writes when it is open.
    var delivers = true
    var partitions: OutboxPartitions
    var streak: RefusalStreak
    /// Whether the store has a record of the streak.
    var isStreakKept = false
    /// The number of dead letters, and their total size in bytes.
    var deadLetterCount = 0
    var deadLetterBytes = 0
    /// Records under the entries' prefix whose keys are not valid names of entries, by their ``OutboxItem/id``.
    var misnamed: [String: RecordKey] = [:]
    /// The store's count of losses of unknown records, or `nil` if all of them are acknowledged.
    var unknownLosses: Int?
    /// The number of items listed as pending that are not entries.
    var unreadableCount: Int { misnamed.count + (unknownLosses == nil ? 0 : 1) }
    var counts = OutboxCounts()
    var handlers = OutboxHandlers()
    /// The group of handlers with which the outbox was opened, or which an attempt to open it added.
    var opener: OutboxMember?
    var nextSequence = 0
    /// The token that this outbox wrote into the store as its owner.
    var token = ""
    /// The condition that the owner's record, which names this outbox, has not changed. `nil` if it has to be checked again.
    var ownership: RecordCondition?
    /// Incremented whenever there are new credentials.
    var credentialsSerial = 0
    /// The delivery tasks, by the keys of their entries.
    var deliveries: [String: Task<Void, Never>] = [:]
    /// The keys of the entries that the upstream has answered and that are being settled.
    var answered: Set<String> = []
    var alarm: Alarm?
    /// The number of commits in progress, and the waiters for their end.
    var acceptsUnderWay = 0
    var idleWaiters: [Promise<Void>] = []
    /// The number of writes in these commits, and their total size in bytes.
    var writesUnderWay = 0
    var bytesUnderWay = 0
    /// The callers that wait until nothing is being delivered and nothing is due before their deadlines.
    var drainWaiters: [(end: Duration, promise: Promise<Void>)] = []
    /// The waiters for settlements, by the keys of the writes.
    var endWaiters: [String: [Promise<Ending>]] = [:]
    private var refusals: [String: RepositoryError] = [:]
    private var refusalOrder = FIFOQueue<String>()

    init(_ policy: OutboxPolicy) {
        partitions = OutboxPartitions(concurrency: policy.concurrency)
        streak = RefusalStreak(policy)
    }

    /// Returns why an entry was refused, or `nil` if it was not refused or the refusal is no longer remembered.
    func refusal(of entry: OutboxEntry) -> RepositoryError? { refusals[entry.idempotencyKey] }

    /// Remembers why an entry was refused.
    mutating func remember(_ refusal: RepositoryError, of entry: OutboxEntry) {
        refusals[entry.idempotencyKey] = refusal
        refusalOrder.append(entry.idempotencyKey)
        if refusalOrder.count > Self.maximumRefusals, let oldest = refusalOrder.popFirst() { refusals[oldest] = nil }
    }

    /// Returns when to look for an entry to send, if nothing else happens until then, or `nil` if only another event can make
    /// one available.
    mutating func wakeTime(at now: Duration) -> Duration? {
        switch streak.phase {
        case .running: return partitions.wakeTime
        case .probing: return nil
        case .paused(let end):
            if partitions.nextKey(at: now) != nil { return end }
            return partitions.wakeTime.map { max($0, end) }
        }
    }

    /// Returns whether nothing is being delivered and nothing is due before a moment.
    mutating func isIdle(at now: Duration, until end: Duration) -> Bool {
        guard phase == .open, delivers else { return true }
        guard deliveries.isEmpty else { return false }
        return wakeTime(at: now).map { $0 > end } ?? true
    }

    /// Removes and returns the drain waiters that have nothing left to wait for.
    mutating func takeIdleDrainWaiters(at now: Duration) -> [Promise<Void>] {
        guard !drainWaiters.isEmpty else { return [] }
        var idle: [Promise<Void>] = []
        var others: [(end: Duration, promise: Promise<Void>)] = []
        for waiter in drainWaiters {
            if isIdle(at: now, until: waiter.end) { idle.append(waiter.promise) } else { others.append(waiter) }
        }
        drainWaiters = others
        return idle
    }

    /// Postpones an entry in delivery until a time.
    ///
    /// After that, another task may deliver the entry.
    mutating func postpone(_ delivery: OutboxDelivery, until moment: Duration) {
        // A probe without an answer is repeated after its own wait.
        endDelivery(of: delivery.entry, nextProbeAt: moment)
        partitions.postpone(delivery, until: moment)
    }

    /// Notes that the upstream has answered an entry. From now on, closing the outbox waits for the entry's task instead of
    /// cancelling it, and another entry can be sent.
    mutating func beginSettling(_ entry: OutboxEntry) {
        answered.insert(entry.idempotencyKey)
        partitions.answer(entry)
    }

    /// Removes the task that delivers an entry. The task itself calls this before it ends. No other task can have the key of the
    /// entry until then: a postponed entry is put back only afterwards, and a retried one gets a key of its own.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - now: When another probe may be sent. Used if the entry was a probe that was neither delivered nor refused.
    mutating func endDelivery(of entry: OutboxEntry, nextProbeAt now: Duration) {
        deliveries[entry.idempotencyKey] = nil
        answered.remove(entry.idempotencyKey)
        streak.end(entry.idempotencyKey, nextProbeAt: now)
    }

    /// Suspends a pending item while it is discarded.
    ///
    /// - Returns: the item and the handlers of its endpoint, or `nil` if there is no such item.
    /// - Throws: a ``RecordStoreError`` if the item is being sent, or the upstream has already done the write.
    mutating func setAside(
        _ id: String
    ) throws(RecordStoreError) -> (item: OutboxPartitions.Item, handlers: [any OutboxHandler])? {
        guard let (item, _, isUnderWay) = partitions.item(id) else { return nil }
        guard !isUnderWay else {
            throw RecordStoreError(
                .denied,
                explanation: "The write \(id) is being sent: try again when the attempt has ended."
            )
        }
        if case .delivery(let delivery) = item, case .success? = delivery.answer {
            throw RecordStoreError(
                .denied,
                explanation: """
                    The upstream has done the write \(id), but the store does not say so yet: discarding it would not undo it.
                    """
            )
        }
        partitions.suspend(id)
        return (item, item.entry.map { handlers.all(for: $0.write.endpoint) } ?? [])
    }

    /// Ends the discarding of an item: removes it, or resumes it.
    mutating func endDiscarding(_ id: String, isRemoved: Bool) {
        if isRemoved { partitions.remove(id) } else { partitions.resume(id) }
    }

    /// Counts a new dead letter.
    mutating func addDeadLetter(_ byteCount: Int) {
        deadLetterCount += 1
        deadLetterBytes += byteCount
    }

    /// Returns whether the dead letters may grow by a number of bytes.
    func hasDeadLetterRoom(for byteCount: Int, _ policy: OutboxPolicy) -> Bool {
        byteCount <= policy.maximumDeadLetterBytes - deadLetterBytes
    }

    /// Counts the removal of a dead letter.
    mutating func removeDeadLetter(_ byteCount: Int) {
        deadLetterCount -= 1
        deadLetterBytes -= byteCount
    }

    /// Returns why writes cannot be accepted, or `nil` if they can be.
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
                \(writes) writes are pending, and \(policy.maximumPending) are allowed. Try again when some are delivered.
                """
        }
        if bytes + byteCount > policy.maximumPendingBytes {
            return """
                The pending writes have \(bytes) bytes, and \(policy.maximumPendingBytes) are allowed: there is no room for \
                \(byteCount) more. Try again when some are delivered.
                """
        }
        let areLettersFull =
            deadLetterCount >= policy.maximumDeadLetters || deadLetterBytes >= policy.maximumDeadLetterBytes
        if needsDeadLetterRoom, areLettersFull {
            return """
                \(deadLetterCount) refused writes of \(deadLetterBytes) bytes are kept as dead letters, and there is no room for \
                more. Retry or discard some.
                """
        }
        return nil
    }

    /// Ends the outbox, permanently or until it is opened again.
    ///
    /// - Returns: the tasks, waiters and alarm to clean up.
    mutating func end(_ phase: Phase) -> End {
        self.phase = phase
        let tasks = deliveries.filter { !answered.contains($0.key) }.map(\.value)
        defer {
            endWaiters = [:]
            drainWaiters = []
            alarm = nil
        }
        return (tasks, endWaiters.values.flatMap(\.self), drainWaiters.map(\.promise), alarm)
    }

    /// Forgets the contents of the records, because another process may have changed them.
    mutating func forgetRecords(_ policy: OutboxPolicy) {
        let fresh = OutboxState(policy)
        ownership = nil
        partitions = fresh.partitions
        streak = fresh.streak
        isStreakKept = fresh.isStreakKept
        deadLetterCount = 0
        deadLetterBytes = 0
        misnamed = [:]
        unknownLosses = nil
    }
}
