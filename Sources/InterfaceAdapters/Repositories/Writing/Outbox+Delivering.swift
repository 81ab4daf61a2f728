import Synchronization
import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Why an entry that is under way is not settled.
    private enum Setback {
        case upstream(RepositoryError, retryAfter: Duration?)
        case store(RecordStoreError)

        var cause: any Error {
            switch self {
            case .upstream(let error, _): error
            case .store(let error): error
            }
        }

        /// What kind of failure of the upstream it is; `nil` if it is the store's.
        var reason: RepositoryError.Reason? { if case .upstream(let error, _) = self { error.reason } else { nil } }

        var retryAfter: Duration? { if case .upstream(_, let delay) = self { delay } else { nil } }
    }

    /// Begins as many deliveries as may go on, and sets the alarm for the next.
    func pump() {
        state.withLock { state in
            guard state.phase == .open else { return }
            while let delivery = state.lanes.next(at: timer.now) {
                // Unstructured, because whoever had the write accepted does not wait for it. It ends with one attempt, and
                // whoever closes cancels it and waits for it: it is made and kept under the lock, so that it is found. It has
                // nothing to do with the deadline of whoever happens to begin it.
                state.deliveries[delivery.entry.idempotencyKey] = Deadline.lifted {
                    Task(executorPreference: timer.executor) { await self.deliver(delivery) }
                }
            }
            setAlarm(&state)
        }
    }

    /// Has the outbox wake when the first of the entries that wait may be sent.
    private func setAlarm(_ state: inout OutboxState) {
        let moment = state.lanes.wakeTime
        guard moment != state.alarm?.moment else { return }
        if let alarm = state.alarm { timer.cancel(alarm.timer) }
        state.alarm = moment.map { moment in
            // An outbox that nobody has any more need not wake.
            let timer = timer.schedule(at: moment) { [weak self] in self?.wake(at: moment) }
            return OutboxState.Alarm(moment: moment, timer: timer)
        }
    }

    private func wake(at moment: Duration) {
        state.withLock { state in
            if state.alarm?.moment == moment { state.alarm = nil }
        }
        pump()
    }

    /// The request that a write is sent as.
    func request(for entry: OutboxEntry) -> DataRequest {
        var request = DataRequest(
            method: entry.write.method,
            url: upstream.baseURL.appending(path: entry.write.path),
            headerFields: [
                HeaderField(.accept, "application/json"), HeaderField(.idempotencyKey, entry.idempotencyKey),
            ]
        )
        if let body = entry.write.body {
            request.headerFields.append(HeaderField(.contentType, "application/json; charset=utf-8"))
            request.body = Data(body)
        }
        return request
    }

    /// Sends an entry once, and settles it or puts it off.
    private func deliver(_ delivery: OutboxDelivery) async {
        var delivery = delivery
        let entry = delivery.entry
        do throws(RecordStoreError) {
            try await checkOwner()
            try state.withLock { state throws(RecordStoreError) in
                // Its end would change nothing that is kept.
                guard state.settlers.settle(entry.write.endpoint) else { throw Self.unsettled(entry) }
                state.counts.attempts += 1
            }
            let request = request(for: entry)
            let outcome = await Result { () async throws(FetchError) in try await upstream.dataFetcher.fetch(request) }
            switch delivery.history.add(outcome, of: request, at: now()) {
            case .delivered(let response): try await settle(entry, .success(response))
            case .refused(let error): try await settle(entry, .failure(error))
            case .again(let error, let delay):
                await postpone(delivery, .upstream(error, retryAfter: delay))
                return pump()
            }
            state.withLock { $0.endDelivery(of: entry) }
        } catch {
            await postpone(delivery, .store(error))
        }
        pump()
    }

    /// Commits what came of an entry together with its end, and tells everybody.
    private func settle(
        _ entry: OutboxEntry,
        _ outcome: Result<DataResponse, RepositoryError>
    ) async throws(RecordStoreError) {
        // From here on a close waits instead of cancelling.
        state.withLock { _ = $0.answered.insert(entry.idempotencyKey) }
        let ticket = try await turn(for: [entry.write.subject])
        defer { leave(ticket) }
        let (later, settlers) = state.withLock { state in
            (
                state.lanes.entries(behindTheFirstOf: entry.write.subject),
                state.settlers.all(for: entry.write.endpoint)
            )
        }
        // Those who would have may have left meanwhile. It is sent again, with the same key, when others have joined.
        guard !settlers.isEmpty else { throw Self.unsettled(entry) }
        var settlements: [OutboxSettlement] = []
        for settler in settlers {
            switch outcome {
            case .success(let response):
                settlements.append(try await settler.delivered(entry, answer: response, before: later))
            case .failure(let error):
                settlements.append(try await settler.refused(entry, because: error, before: later))
            }
        }
        try await commit(settlements.flatMap(\.changes), adding: records.removal(of: entry))
        for settlement in settlements { settlement.whenCommitted() }
        let waiters = state.withLock { state in
            state.lanes.settle(entry)
            switch outcome {
            case .success: state.counts.delivered += 1
            case .failure(let error):
                state.counts.refused += 1
                state.remember(error, of: entry)
            }
            return state.endWaiters.removeValue(forKey: entry.idempotencyKey) ?? []
        }
        switch outcome {
        case .success:
            if let problem = settlements.lazy.compactMap(\.problem).first {
                errorHandler.handle(UnusableAnswerError(entry, problem: problem))
            }
        case .failure(let error): errorHandler.handle(RefusedWriteError(entry, because: error))
        }
        for waiter in waiters { waiter.keep(outcome.map { _ in }) }
    }

    /// That an entry is not settled, because all have left who would.
    private static func unsettled(_ entry: OutboxEntry) -> RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: """
                The write \(entry) is for the endpoint “\(entry.write.endpoint)”, which nobody settles any more: it waits until \
                somebody joins the outbox who does.
                """
        )
    }

    /// Has an entry wait before it is sent again, unless the outbox has been closed: then it is the next one's.
    private func postpone(_ delivery: OutboxDelivery, _ setback: Setback) async {
        let isOpen = state.withLock { state in
            if state.phase != .open { state.endDelivery(of: delivery.entry) }
            return state.phase == .open
        }
        guard isOpen else { return }
        var delivery = delivery
        delivery.entry.attempts += 1
        let attempts = delivery.entry.attempts
        if setback.reason != nil { await keepAttempts(of: delivery.entry) }
        if delivery.history.isToBeTold(setback.reason, after: attempts, limit: policy.reportedAttempts) {
            errorHandler.handle(DelayedWriteError(delivery.entry, because: setback.cause))
        }
        let wait = policy.wait(after: attempts, retryAfter: setback.retryAfter)
        let moment = timer.now + wait
        state.withLock { state in
            state.counts.postponed += 1
            state.postpone(delivery, until: moment)
        }
    }

    /// Keeps how often an entry was sent, so that a later process does not begin with the shortest wait.
    private func keepAttempts(of entry: OutboxEntry) async {
        let key = OutboxEntryName(entry).key(under: records.attempts)
        // Where it cannot be kept, no more is lost than a longer wait.
        try? await store.commit([.keep(StoredRecord(Array(String(entry.attempts).utf8)), key)])
    }
}
