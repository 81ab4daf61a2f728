import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Why an attempt did not settle an entry.
    private enum Setback {
        case upstream(RepositoryError, retryAfter: Duration?)
        case store(RecordStoreError)

        var cause: any Error {
            switch self {
            case .upstream(let error, _): error
            case .store(let error): error
            }
        }

        /// The reason of the upstream's failure, or `nil` if the store failed.
        var reason: RepositoryError.Reason? { if case .upstream(let error, _) = self { error.reason } else { nil } }

        var retryAfter: Duration? { if case .upstream(_, let delay) = self { delay } else { nil } }

        var end: OutboxDeliveryEnd {
            switch self {
            case .upstream(let error, _): .postponed(error)
            case .store(let error): .unsettled(error)
            }
        }
    }

    /// Begins as many deliveries as the limits allow, and schedules the next wake-up. Resumes the drain waiters that have
    /// nothing left to wait for, and tells the observer of the change.
    ///
    /// - Parameter change: What to do first, under the same lock.
    func pump(after change: (inout OutboxState) -> Void = { _ in }) {
        beginDeliveries(after: change)
        tellOfChange()
    }

    private func beginDeliveries(after change: (inout OutboxState) -> Void) {
        let idle = InteractionID.lifted { nextDeliveries(after: change) }
        for waiter in idle { waiter.fulfill(()) }
    }

    /// Begins deliveries, and returns the drain waiters to resume.
    private func nextDeliveries(after change: (inout OutboxState) -> Void) -> [Promise<Void>] {
        state.withLock { state in
            change(&state)
            let now = timer.now
            guard state.phase == .open, state.delivers else { return state.takeIdleDrainWaiters(at: now) }
            while let key = state.partitions.nextKey(at: now), state.streak.begin(key, at: now),
                var delivery = state.partitions.next(at: now)
            {
                delivery.credentialsSerial = state.credentialsSerial
                delivery.start = now
                // Unstructured, because the caller whose write was accepted does not wait for delivery. The task ends after one
                // attempt. It is created and stored under the lock, so that `close()` finds it, cancels it and waits for it.
                // The deadline of the calling task does not apply to it.
                state.deliveries[delivery.entry.idempotencyKey] = Deadline.lifted {
                    Task.starting(on: timer.executor) { [delivery] in await self.deliver(delivery) }
                }
            }
            setAlarm(&state, at: now)
            return state.takeIdleDrainWaiters(at: now)
        }
    }

    /// Schedules the outbox to wake when the first waiting entry is due or the pause ends.
    private func setAlarm(_ state: inout OutboxState, at now: Duration) {
        let moment = state.wakeTime(at: now)
        guard moment != state.alarm?.moment else { return }
        if let alarm = state.alarm { timer.cancel(alarm.timer) }
        state.alarm = moment.map { moment in
            // The alarm does not keep the outbox alive.
            let timer = timer.schedule(at: moment) { [weak self] in self?.pump() }
            return OutboxState.Alarm(moment: moment, timer: timer)
        }
    }

    /// Returns the request for an entry.
    func request(for entry: OutboxEntry) -> DataRequest { entry.request(to: upstream) }

    /// Sends an entry once, unless the upstream has already given a final response, and then settles or postpones it.
    private func deliver(_ delivery: OutboxDelivery) async {
        let isSettled: Bool
        if let observer {
            isSettled = await observer.surround(.delivery(delivery.entry)) { () async throws(Never) in
                await attempt(delivery)
            }
        } else {
            isSettled = await attempt(delivery)
        }
        // A postponed entry may already be in the hands of another task.
        pump { state in if isSettled { state.endDelivery(of: delivery.entry, nextProbeAt: timer.now) } }
    }

    /// Sends an entry once, if necessary, and returns whether it is settled. If not, it is postponed.
    private func attempt(_ delivery: OutboxDelivery) async -> Bool {
        var delivery = delivery
        do throws(RecordStoreError) {
            if delivery.answer == nil, let setback = try await send(&delivery) {
                await postpone(delivery, setback)
                return false
            }
            try await settle(delivery)
            return true
        } catch {
            await postpone(delivery, .store(error))
            return false
        }
    }

    /// Reports the outcome of an attempt to the observer.
    private func tell(of delivery: OutboxDelivery, _ end: OutboxDeliveryEnd) {
        observer?.deliveryEnded(delivery.entry, end, after: timer.now - delivery.start)
    }

    /// Sends an entry once, and records the response if it is final.
    ///
    /// - Returns: why the entry must be sent again, or `nil` if the response is final.
    /// - Throws: a ``RecordStoreError`` if nothing was sent.
    private func send(_ delivery: inout OutboxDelivery) async throws(RecordStoreError) -> Setback? {
        let entry = delivery.entry
        // Without a handler, the outcome could not be settled, and undeclared operations must not be sent.
        guard state.withLock({ $0.handlers.objection(to: entry.write) }) == nil else { throw Self.unsettled(entry) }
        let handlers = state.withLock { $0.handlers.all(for: entry.write.endpoint) }
        // An entry that may have arrived must be repeated unchanged.
        if !delivery.history.mayHaveArrived, try await prepare(&delivery, handlers) { return nil }
        try await noteSending(delivery)
        let request = request(for: delivery.entry)
        let outcome = await Result { () async throws(FetchError) in try await upstream.dataFetcher.fetch(request) }
        let attempts = Self.attempts(outcome)
        state.withLock { $0.counts.attempts += attempts }
        // New credentials then trigger an immediate retry, as after a rejection by the upstream.
        if case .failure(let error) = outcome, error.lacksCredentials { delivery.isDenied = true }
        switch delivery.history.add(outcome, of: request, at: now()) {
        case .delivered(let response):
            delivery.answer = .success(response)
            return nil
        case .conflicting(let error):
            return try await resolve(&delivery, error, handlers)
        case .refused(let error):
            guard countsRefusal(of: delivery.entry, because: error) else { return .upstream(error, retryAfter: nil) }
            delivery.answer = .failure(error)
            return nil
        case .again(let error, let delay): return .upstream(error, retryAfter: delay)
        }
    }

    /// Asks the handlers how to resolve a conflict of versions.
    ///
    /// - Returns: why the entry must be sent again, or `nil` if it must not.
    private func resolve(
        _ delivery: inout OutboxDelivery,
        _ error: RepositoryError,
        _ handlers: [any OutboxHandler]
    ) async throws(RecordStoreError) -> Setback? {
        var resolution: OutboxResolution?
        // All handlers of an endpoint agree about the upstream, so the first one that decides is enough.
        for handler in handlers where resolution == nil {
            resolution = try await handler.resolution(of: delivery.entry, because: error)
        }
        switch resolution {
        case nil:
            guard countsRefusal(of: delivery.entry, because: error) else { return .upstream(error, retryAfter: nil) }
            delivery.answer = .failure(error)
        // A conflict with another client says nothing about the health of the upstream, so it does not count toward a pause.
        case .refused: delivery.answer = .failure(error)
        case .conflict(let conflict): (delivery.answer, delivery.conflict) = (.failure(error), conflict)
        case .dropped(let version): (delivery.answer, delivery.droppedFor) = (.failure(error), version)
        case .revised(let write):
            try await revise(&delivery, to: write, handlers)
            // The revised write has not been sent before.
            delivery.history = DeliveryHistory()
            return .upstream(error, retryAfter: nil)
        }
        return nil
    }

    /// Asks the handlers what to send for an entry.
    ///
    /// - Returns: `true` if the entry is refused without being sent.
    private func prepare(
        _ delivery: inout OutboxDelivery,
        _ handlers: [any OutboxHandler]
    ) async throws(RecordStoreError) -> Bool {
        for handler in handlers {
            switch try await handler.preparation(of: delivery.entry) {
            case .ready: continue
            case .refused(let error):
                delivery.answer = .failure(error)
                return true
            case .revised(let write): try await revise(&delivery, to: write, handlers)
            }
        }
        return false
    }

    /// Replaces the write in an entry, and stores the entry.
    private func revise(
        _ delivery: inout OutboxDelivery,
        to write: OutboxWrite,
        _ handlers: [any OutboxHandler]
    ) async throws(RecordStoreError) {
        let entry = delivery.entry.revised(to: write)
        try await commit([], adding: [try records.keeping(entry)])
        delivery.entry = entry
        for handler in handlers where handler.declares(write) { handler.revised([entry]) }
    }

    /// Returns the number of requests that were sent. There are two if the request was repeated with renewed credentials.
    private static func attempts(_ outcome: Result<DataResponse, FetchError>) -> Int {
        switch outcome {
        case .success(let response): response.retries?.attempts ?? 1
        case .failure(let error): error.retries?.attempts ?? (error.wasSent && error.reason != .unreachable ? 1 : 0)
        }
    }

    /// Stores a note that an entry is about to be sent, so that a later process knows that it may have arrived. Also checks
    /// that this outbox still owns the records.
    private func noteSending(_ delivery: OutboxDelivery) async throws(RecordStoreError) {
        // The stored note already says that the entry may have arrived.
        if delivery.history.mayHaveArrived, delivery.isNoted { return try await checkOwner() }
        let note = AttemptNote(
            attempts: delivery.entry.attempts,
            mayHaveArrived: delivery.history.mayHaveArrived,
            isSending: true,
            cause: delivery.cause
        )
        try await commit([], adding: [keeping(note, of: delivery.entry)])
    }

    /// Returns whether a refusal is final. While delivery is paused, only a refusal of the probe is.
    private func countsRefusal(of entry: OutboxEntry, because error: RepositoryError) -> Bool {
        let (date, time) = (now(), timer.now)
        let (counts, pause) = state.withLock { state -> (Bool, OutboxPause?) in
            let (counts, pauses) = state.streak.refuse(
                entry.idempotencyKey,
                of: entry.write.subject,
                because: error.description,
                at: time
            )
            return (counts, pauses ? state.streak.record(at: time, date).pause : nil)
        }
        if let pause { errorHandler.handle(OutboxPausedError(prefix: records.prefix, pause: pause)) }
        return counts
    }

    /// Commits the outcome of an entry together with its removal, and notifies handlers and waiters.
    private func settle(_ answered: OutboxDelivery) async throws(RecordStoreError) {
        guard let outcome = answered.answer else { return }
        var delivery = answered
        let entry = delivery.entry
        beginDeliveries { $0.beginSettling(entry) }
        let ticket = try await locks.take([entry.write.subject])
        defer { locks.release(ticket) }
        let handlers = state.withLock { $0.handlers.all(for: entry.write.endpoint) }
        // The handlers may have left in the meantime. The entry is settled when others have joined.
        guard !handlers.isEmpty else { throw Self.unsettled(entry) }
        let later = laterEntries(behind: entry)
        var settlements: [OutboxSettlement] = []
        for handler in handlers where handler.declares(entry.write) {
            switch outcome {
            case .success(let response):
                settlements.append(try await handler.delivered(entry, answer: response, before: later))
            case .failure(let error):
                settlements.append(try await handler.refused(entry, because: error, before: later))
            }
        }
        // All handlers of an endpoint agree, so the revisions of the first one are enough.
        var revised = settlements.first?.revised ?? []
        if let version = delivery.droppedFor, let next = later.all.first, next.write.version == .previousWrite {
            revised = [next.revised(to: next.write.made(for: version))]
        }
        var own =
            try records.removal(of: entry)
            + revised.map { entry throws(RecordStoreError) in try records.keeping(entry) }
        // The upstream's version can have any size. If there is no room for both versions, keep the write without them.
        if let size = delivery.conflict?.byteCount, !state.withLock({ $0.hasDeadLetterRoom(for: size, policy) }) {
            delivery.conflict = nil
        }
        if delivery.droppedFor == nil { own += try ending(of: delivery, outcome) }
        try await commit(settlements.flatMap(\.changes), adding: own)
        for settlement in settlements { settlement.whenCommitted() }
        let waiters = state.withLock { state in
            state.partitions.settle(entry)
            for entry in revised { state.partitions.revise(entry) }
            switch outcome {
            case .failure where delivery.droppedFor != nil: state.counts.delivered += 1
            case .success:
                state.counts.delivered += 1
                state.isStreakKept = false
            case .failure(let error):
                state.isStreakKept = true
                state.counts.refused += 1
                state.addDeadLetter(delivery.deadLetterByteCount)
                state.remember(error, of: entry)
            }
            return state.endWaiters.removeValue(forKey: entry.idempotencyKey) ?? []
        }
        switch outcome {
        case .success:
            if let problem = settlements.lazy.compactMap(\.problem).first {
                errorHandler.handle(UnusableAnswerError(entry, problem: problem))
            }
        case .failure where delivery.droppedFor != nil: break
        case .failure(let error): errorHandler.handle(RefusedWriteError(entry, because: error))
        }
        switch outcome {
        case .success: tell(of: delivery, .delivered)
        case .failure(let error): tell(of: delivery, delivery.droppedFor == nil ? .refused(error) : .dropped)
        }
        for waiter in waiters { waiter.fulfill(delivery.droppedFor != nil ? .success(()) : outcome.map { _ in }) }
    }

    /// Returns the changes of the outbox's own records to commit with the removal of an entry: its dead letter if it was
    /// refused, and the current streak of refusals.
    private func ending(
        of delivery: OutboxDelivery,
        _ outcome: Result<DataResponse, RepositoryError>
    ) throws(RecordStoreError) -> [RecordChange] {
        let (date, time) = (now(), timer.now)
        switch outcome {
        case .success:
            return state.withLock { state in
                state.streak.deliver()
                return state.isStreakKept ? [.remove(records.pause)] : []
            }
        case .failure(let error):
            let entry = delivery.entry
            let letter = try DeadLetterDTO(entry, because: error, delivery.conflict, at: date).bytes()
            let streak = state.withLock { $0.streak.record(at: time, date) }
            return [
                .keep(StoredRecord(letter), OutboxEntryName(entry).key(under: records.dead)),
                .keep(StoredRecord(streak.bytes), records.pause),
            ]
        }
    }

    /// The error for an entry whose handlers have all left.
    private static func unsettled(_ entry: OutboxEntry) -> RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: """
                The write \(entry) is for the endpoint “\(entry.write.endpoint)”, which no longer has a handler: it waits until a \
                handler for it joins the outbox.
                """
        )
    }

    /// Postpones an entry. If the outbox was closed, the next outbox delivers it instead.
    private func postpone(_ delivery: OutboxDelivery, _ setback: Setback) async {
        let isOpen = state.withLock { state in
            if state.phase != .open { state.endDelivery(of: delivery.entry, nextProbeAt: timer.now) }
            return state.phase == .open
        }
        guard isOpen else { return }
        var delivery = delivery
        let attempts: Int
        switch setback {
        case .upstream:
            delivery.entry.attempts += 1
            attempts = delivery.entry.attempts
        case .store:
            delivery.settlementFailures += 1
            attempts = delivery.settlementFailures
        }
        // If there are new credentials since the rejected attempt began, the entry does not wait.
        delivery.isDenied = delivery.isDenied || setback.reason == .denied
        let isOutdated = delivery.isDenied && state.withLock(\.credentialsSerial) != delivery.credentialsSerial
        let wait = isOutdated ? .zero : policy.wait(after: attempts, retryAfter: setback.retryAfter)
        let (moment, date) = (timer.now + wait, now())
        delivery.cause = "\(setback.cause)"
        if setback.reason != nil {
            let note = AttemptNote(
                attempts: attempts,
                mayHaveArrived: delivery.history.mayHaveArrived,
                nextAttempt: date.addingTimeInterval(wait / .seconds(1)),
                cause: delivery.cause,
                isDenied: delivery.isDenied
            )
            delivery.isNoted = await keep(note, of: delivery.entry)
        }
        if delivery.history.isToBeTold(setback.reason, after: attempts, limit: policy.reportedAttempts) {
            errorHandler.handle(DelayedWriteError(delivery.entry, because: setback.cause))
        }
        tell(of: delivery, setback.end)
        state.withLock { state in
            state.counts.postponed += 1
            // There may be new credentials since the decision how long to wait. Nothing else would wake the entry then.
            let isOutdated = delivery.isDenied && state.credentialsSerial != delivery.credentialsSerial
            state.postpone(delivery, until: isOutdated ? timer.now : moment)
        }
    }

    /// Stores the outcome of an attempt, so that a later process continues with the current wait.
    ///
    /// - Returns: whether the note was stored. If not, the note from before the attempt remains, which says that the entry may
    ///   have arrived.
    private func keep(_ note: AttemptNote, of entry: OutboxEntry) async -> Bool {
        do {
            try await store.commit([keeping(note, of: entry)])
            return true
        } catch {
            return false
        }
    }

    private func keeping(_ note: AttemptNote, of entry: OutboxEntry) -> RecordChange {
        .keep(StoredRecord(note.bytes), OutboxEntryName(entry).key(under: records.attempts))
    }
}
