import InwardCore
import Synchronization

/// Fair locks for subjects: one holder for each subject at a time, in the order of requests.
final class SubjectLocks: Sendable {
    private struct State {
        var lock = KeyedLock()
        var waiters: [KeyedLock.Ticket: Promise<Void>] = [:]
    }

    private let state = Mutex(State())

    /// The number of callers that wait.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    /// Waits for the locks of subjects.
    ///
    /// - Returns: the ticket with which to release the locks.
    /// - Throws: a ``RecordStoreError`` as soon as the task is cancelled or its deadline passes.
    func take(_ subjects: Set<RecordKey>) async throws(RecordStoreError) -> KeyedLock.Ticket {
        let (ticket, promise) = state.withLock { state -> (KeyedLock.Ticket, Promise<Void>?) in
            let (ticket, isGranted) = state.lock.request(subjects)
            if isGranted { return (ticket, nil) }
            let promise = Promise<Void>()
            state.waiters[ticket] = promise
            return (ticket, promise)
        }
        let outcome = await promise?.value() ?? .fulfilled(())
        if case .fulfilled = outcome { return ticket }
        release(ticket)
        let reason = if case .cancelled = outcome { "the task was cancelled" } else { "the deadline passed" }
        throw RecordStoreError(.cancelled, explanation: "Nothing was changed: \(reason) before the change began.")
    }

    /// Releases the locks of a ticket and resumes the next waiters.
    func release(_ ticket: KeyedLock.Ticket) {
        let promises = state.withLock { state in
            state.waiters[ticket] = nil
            return state.lock.leave(ticket).compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for promise in promises { promise.fulfill(()) }
    }
}

/// The bookkeeping of ``SubjectLocks``, which suspends and resumes the callers.
///
/// A request for several subjects enters all of their queues at once and is granted when it is first in each, so requests
/// cannot deadlock.
struct KeyedLock {
    /// Identifies a request.
    typealias Ticket = Int

    private var queues: [RecordKey: [Ticket]] = [:]
    private var subjects: [Ticket: Set<RecordKey>] = [:]
    private var lastTicket = 0

    /// The number of requests that are waiting or granted.
    var count: Int { subjects.count }

    /// Requests the locks of subjects.
    ///
    /// - Parameter subjects: The subjects to lock. A request without subjects is granted immediately.
    /// - Returns: the ticket, and whether the request is granted.
    mutating func request(_ subjects: Set<RecordKey>) -> (ticket: Ticket, isGranted: Bool) {
        lastTicket += 1
        self.subjects[lastTicket] = subjects
        for subject in subjects { queues[subject, default: []].append(lastTicket) }
        return (lastTicket, isGranted(lastTicket))
    }

    /// Releases the locks of a ticket, or withdraws its request.
    ///
    /// - Returns: the tickets that are granted as a result.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
        var next: Set<Ticket> = []
        for subject in subjects.removeValue(forKey: ticket) ?? [] {
            guard var queue = queues[subject], let place = queue.firstIndex(of: ticket) else { continue }
            queue.remove(at: place)
            queues[subject] = queue.isEmpty ? nil : queue
            // Removing a waiter from the middle of a queue does not grant anything.
            if place == 0, let first = queue.first { next.insert(first) }
        }
        return next.filter(isGranted).sorted()
    }

    private func isGranted(_ ticket: Ticket) -> Bool {
        (subjects[ticket] ?? []).allSatisfy { queues[$0]?.first == ticket }
    }
}
