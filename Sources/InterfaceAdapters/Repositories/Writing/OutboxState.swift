import UseCases

/// What an ``Outbox`` knows, under its lock.
struct OutboxState {
    /// How far the outbox has come.
    enum Phase: Hashable {
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

    /// How many refusals are remembered, for those who ask what became of a write when it is over.
    private static let mostRefusals = 1_000

    var phase = Phase.made
    /// Whether it was tried to open it, and never done.
    var hasFailedToOpen = false
    var lanes: OutboxLanes
    var turns = OutboxTurns()
    var counts = OutboxCounts()
    var settlers = OutboxSettlers()
    /// Whom it was opened with, or was to be.
    var opener: OutboxMember?
    var nextSequence = 0
    /// What this outbox has written into the store to say that it delivers.
    var token = ""
    /// The tasks that deliver, by the keys of their entries.
    var deliveries: [String: Task<Void, Never>] = [:]
    /// The keys of the entries that the upstream has answered for, and that are being settled.
    var answered: Set<String> = []
    var alarm: Alarm?
    /// How many calls make something durable at this moment, and who waits until none does.
    var acceptsUnderWay = 0
    var idleWaiters: [Promise<Void>] = []
    /// How many writes these are of.
    var writesUnderWay = 0
    /// Who waits for a turn.
    var turnWaiters: [OutboxTurns.Ticket: Promise<Void>] = [:]
    /// Who waits for the end of a write, by its key.
    var endWaiters: [String: [Promise<Ending>]] = [:]
    private var refusals: [String: RepositoryError] = [:]
    private var refusalOrder: [String] = []

    init(concurrency: Int) {
        lanes = OutboxLanes(concurrency: concurrency)
    }

    /// Why an entry was refused; `nil` if it was not, or is forgotten.
    func refusal(of entry: OutboxEntry) -> RepositoryError? { refusals[entry.idempotencyKey] }

    /// Takes down why an entry was refused.
    mutating func remember(_ refusal: RepositoryError, of entry: OutboxEntry) {
        refusals[entry.idempotencyKey] = refusal
        refusalOrder.append(entry.idempotencyKey)
        if refusalOrder.count > Self.mostRefusals { refusals[refusalOrder.removeFirst()] = nil }
    }

    /// Has an entry that is under way wait until a moment.
    ///
    /// From then on somebody else may send it, whose task takes the place of the one that did.
    mutating func postpone(_ delivery: OutboxDelivery, until moment: Duration) {
        endDelivery(of: delivery.entry)
        lanes.postpone(delivery, until: moment)
    }

    /// Forgets the task that delivers an entry. For that task, before anybody else may deliver it.
    mutating func endDelivery(of entry: OutboxEntry) {
        deliveries[entry.idempotencyKey] = nil
        answered.remove(entry.idempotencyKey)
    }

    /// Ends the outbox.
    ///
    /// - Returns: who is to be told that it has ended.
    mutating func close() -> (tasks: [Task<Void, Never>], waiters: [Promise<Ending>], alarm: Alarm?) {
        phase = .closed
        let tasks = deliveries.filter { !answered.contains($0.key) }.map(\.value)
        defer {
            endWaiters = [:]
            alarm = nil
        }
        return (tasks, endWaiters.values.flatMap(\.self), alarm)
    }
}
