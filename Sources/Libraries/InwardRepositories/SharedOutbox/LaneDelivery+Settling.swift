import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LaneDelivery {
    /// Commits the outcome of an entry together with its removal.
    mutating func settle(_ work: Work, _ ending: Ending) async throws(RecordStoreError) -> Next {
        // What a commit that may have succeeded was for.
        var uncertain: OutboxSettlement?
        do throws(RecordStoreError) {
            return try await settle(work, ending, &uncertain)
        } catch {
            await showUncertain(work)
            throw error
        }
    }

    private mutating func settle(
        _ answered: Work,
        _ ending: Ending,
        _ uncertain: inout OutboxSettlement?
    ) async throws(RecordStoreError) -> Next {
        var work = answered
        var failures = 0
        while true {
            var settlement: OutboxSettlement?
            let error: RecordStoreError
            do throws(RecordStoreError) {
                let prepared = try await prepareSettlement(of: work, ending)
                settlement = prepared
                try await commit(prepared, of: work, ending)
                report(work, ending, prepared)
                return work.numbers.count > 1 ? .goOn : .end
            } catch let failure {
                error = failure
                // The commit may have revised them.
                laterEntries = []
            }
            if error.reason != .conflict {
                if error.reason == .outcomeUnknown { uncertain = settlement ?? uncertain }
                failures += 1
                let wait = policy.delivery.wait(after: failures, retryAfter: nil)
                guard outbox.timer.now + wait < leaseEnd, !outbox.isStopping || failures == 1 else { throw error }
                try? await outbox.timer.sleep(for: wait)
            }
            guard let head = try await outbox.store.snapshot(for: records.head(of: lane)),
                let numbers = try? LaneHead(head), numbers.first <= work.number
            else {
                // Either an earlier commit has succeeded, or another instance has settled the entry.
                guard let uncertain else { throw error }
                report(work, ending, uncertain)
                return .goOn
            }
            // If only the lease is lost, the head is unchanged.
            guard error.reason != .conflict || head.version != work.head.version, numbers.first == work.number else {
                throw error
            }
            (work.head, work.numbers) = (head, numbers)
        }
    }

    /// Asks the handler for the changes to commit.
    private mutating func prepareSettlement(
        of work: Work,
        _ ending: Ending
    ) async throws(RecordStoreError) -> OutboxSettlement {
        try await readLaterEntries(behind: work)
        let later = LaterEntries(laterEntries.filter { $0.write.subject == work.entry.write.subject })
        // The handlers of repositories that show the entry also show its outcome. They make the same changes as the handler of the
        // destination would.
        let (showing, memberCount) = outbox.partition(ifUsed: lane.partition)?.handlers(of: work.entry.write) ?? ([], 0)
        var settlements: [OutboxSettlement] = []
        for handler in showing.isEmpty ? [work.handler] : showing {
            switch ending.outcome {
            case .success(let response):
                settlements.append(try await handler.delivered(work.entry, answer: response, before: later))
            case .failure(let error):
                settlements.append(try await handler.refused(work.entry, because: error, before: later))
            }
        }
        return OutboxSettlement(settlements, memberCount: memberCount)
    }

    /// Shows the entry as pending until the store is read again, because the store did not say whether it was settled, or somebody
    /// else settles it. If it is no longer pending then, the handlers forget what they have cached.
    private func showUncertain(_ work: Work) async {
        guard let partition = outbox.partition(ifUsed: lane.partition) else { return }
        _ = partition.show(accepted: [work.entry], since: partition.readingCount)
        partition.becomeOutdated()
        // If this fails, it is done later.
        try? await partition.showPending()
    }

    /// Reads the entries after the first one, except for those that are known. While the lease lasts, others only add entries.
    private mutating func readLaterEntries(behind work: Work) async throws(RecordStoreError) {
        laterEntries.removeAll { $0.sequence <= work.number }
        let unknown = Array(
            ((laterEntries.last?.sequence ?? work.number) + 1)..<max(work.numbers.next, work.number + 1)
        )
        guard !unknown.isEmpty else { return }
        let found = try await outbox.store.records(for: unknown.map { records.entry($0, of: lane) })
        laterEntries += zip(unknown, found).compactMap { number, record in
            record.flatMap { try? LaneEntryDTO.entry(from: $0.bytes, number: number, attempts: 0) }
        }
    }

    private mutating func commit(
        _ settlement: OutboxSettlement,
        of work: Work,
        _ ending: Ending
    ) async throws(RecordStoreError) {
        let entry = work.entry
        for change in settlement.changes { try change.throwIfAffecting(records.prefix) }
        var changes = settlement.changes
        var revised = settlement.revised
        let next = laterEntries.first { $0.write.subject == entry.write.subject }
        if let version = ending.droppedFor, let next, next.write.version == .previousWrite {
            revised = [next.revised(to: next.write.made(for: version))]
        }
        for entry in revised {
            changes.append(.keep(try LaneEntryDTO.record(of: entry), records.entry(entry.sequence, of: lane)))
        }
        changes.append(.remove(records.entry(work.number, of: lane)))
        changes.append(.remove(records.note(work.number, of: lane)))
        changes.append(.announce(records.heads(of: lane.partition)))
        if case .failure(let error) = ending.outcome, ending.droppedFor == nil {
            changes.append(try outbox.deadLetter(of: entry, in: lane.partition, because: error, ending.conflict))
        }
        let head = records.head(of: lane)
        if work.numbers.count > 1 {
            changes.append(.keep(LaneHead(first: work.number + 1, next: work.numbers.next).record, head))
        } else {
            changes.append(.remove(head))
        }
        let conditions: [RecordCondition] = [.isLeased(lease), .isUnchanged(head, since: work.head)]
        try await outbox.store.commit(changes, if: conditions)
        for entry in revised {
            if let place = laterEntries.firstIndex(where: { $0.sequence == entry.sequence }) {
                laterEntries[place] = entry
            }
        }
    }

    /// Reports the outcome of a settled entry.
    private func report(_ work: Work, _ ending: Ending, _ settlement: OutboxSettlement) {
        let isRefused = if case .failure = ending.outcome { ending.droppedFor == nil } else { false }
        let counter: WritableKeyPath<OutboxCounts, Int> = isRefused ? \.refused : \.delivered
        outbox.count { $0[keyPath: counter] += 1 }
        if let partition = outbox.partition(ifUsed: lane.partition) {
            partition.showSettled(
                work.entry.idempotencyKey,
                counter,
                toMembers: settlement.memberCount,
                settlement.whenCommitted
            )
        } else {
            settlement.whenCommitted()
        }
        let end: OutboxDeliveryEnd
        switch ending.outcome {
        case .success:
            end = .delivered
            if let problem = settlement.problem {
                outbox.errorHandler.handle(UnusableAnswerError(work.entry, problem: problem))
            }
        case .failure where ending.droppedFor != nil:
            end = .dropped
        case .failure(let error):
            end = .refused(error)
            outbox.errorHandler.handle(RefusedWriteError(work.entry, because: error))
        }
        outbox.observer?.deliveryEnded(work.entry, end, after: outbox.timer.now - ending.start)
    }

    /// Notes a failed attempt, and lets the lease run out after a wait.
    mutating func postpone(
        _ work: inout Work,
        because error: RepositoryError,
        retryAfter: Duration?,
        _ start: Duration
    ) async throws(RecordStoreError) -> Next {
        let attempts = work.entry.attempts + 1
        if let limit = work.handler.terms.attemptLimit, attempts >= limit {
            return try await giveUp(work, after: attempts, because: error, start)
        }
        work.entry.attempts = attempts
        let wait = policy.delivery.wait(after: attempts, retryAfter: retryAfter)
        let note = AttemptNote(
            attempts: attempts,
            mayHaveArrived: work.history.mayHaveArrived,
            nextAttempt: outbox.now().addingTimeInterval(wait / .seconds(1)),
            cause: "\(error)",
            isDenied: error.reason == .denied,
            firstAttempt: work.history.mayHaveArrived ? work.firstAttempt : nil,
            conflicts: work.history.conflicts
        )
        try await keep(note, of: work)
        outbox.count { $0.postponed += 1 }
        let needsAction = error.reason == .denied || error.reason == .unreadable
        if attempts == policy.delivery.reportedAttempts || needsAction && attempts == 1 {
            outbox.errorHandler.handle(DelayedWriteError(work.entry, because: error))
        }
        outbox.observer?.deliveryEnded(work.entry, .postponed(error), after: outbox.timer.now - start)
        return .wait(wait)
    }

    /// Ends the attempts of an entry after a number of them, as its endpoint says.
    mutating func giveUp(
        _ failed: Work,
        after attempts: Int,
        because error: RepositoryError,
        _ start: Duration
    ) async throws(RecordStoreError) -> Next {
        var work = failed
        switch work.handler.terms.afterLimit {
        case .hold:
            work.entry.attempts = attempts
            return try await hold(work, because: .attemptLimit(error))
        case .goOn:
            // A dead letter counts the last attempt by itself.
            work.entry.attempts = attempts - 1
            let final = RepositoryError(
                work.history.mayHaveArrived ? .outcomeUnknown : .refused,
                request: error.request,
                explanation: "was given up after \(attempts) failed attempts: the last one \(error.explanation)"
            )
            return try await settle(work, Ending(outcome: .failure(final), start: start))
        }
    }

    /// Notes that the entry is not sent until somebody decides.
    func hold(_ work: Work, because reason: HeldWriteError.Reason) async throws(RecordStoreError) -> Next {
        let error = HeldWriteError(work.entry, in: lane.partition, because: reason)
        let note = AttemptNote(
            attempts: work.entry.attempts,
            mayHaveArrived: work.history.mayHaveArrived,
            cause: "\(reason)",
            firstAttempt: work.firstAttempt,
            isHeld: true,
            conflicts: work.history.conflicts
        )
        try await keep(note, of: work)
        outbox.errorHandler.handle(error)
        return .wait(policy.holdInterval)
    }
}
