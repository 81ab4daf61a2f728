/// Who may change what is kept of which subjects: one at a time for each subject, in the order they asked. A value without a task,
/// for an ``Outbox``.
///
/// Who asks for several subjects gets them all at once, and stands in all their queues from the moment it asks; so nobody waits
/// for somebody who waits for him.
struct OutboxTurns {
    /// Names who asked.
    typealias Ticket = Int

    private var queues: [RecordKey: [Ticket]] = [:]
    private var subjects: [Ticket: Set<RecordKey>] = [:]
    private var lastTicket = 0

    /// How many have asked and not left.
    var count: Int { subjects.count }

    /// Asks for a turn.
    ///
    /// - Parameter subjects: What it is for; of none, it comes at once.
    /// - Returns: the ticket, and whether it is its turn already.
    mutating func request(_ subjects: Set<RecordKey>) -> (ticket: Ticket, isGranted: Bool) {
        lastTicket += 1
        self.subjects[lastTicket] = subjects
        for subject in subjects { queues[subject, default: []].append(lastTicket) }
        return (lastTicket, isGranted(lastTicket))
    }

    /// Ends a turn, or the wait for one.
    ///
    /// - Returns: those whose turn it is by that.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
        var next: Set<Ticket> = []
        for subject in subjects.removeValue(forKey: ticket) ?? [] {
            guard var queue = queues[subject], let place = queue.firstIndex(of: ticket) else { continue }
            queue.remove(at: place)
            queues[subject] = queue.isEmpty ? nil : queue
            // Who was behind somebody that waited gets no turn by that.
            if place == 0, let first = queue.first { next.insert(first) }
        }
        return next.filter(isGranted).sorted()
    }

    private func isGranted(_ ticket: Ticket) -> Bool {
        (subjects[ticket] ?? []).allSatisfy { queues[$0]?.first == ticket }
    }
}
