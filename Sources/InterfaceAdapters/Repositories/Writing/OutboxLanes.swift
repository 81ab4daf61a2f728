/// Which of the entries of an outbox may be sent next: a value without a clock or a task, for an ``Outbox``.
///
/// Each subject has a lane, in which one entry stands behind the other. Only the first of a lane is ever sent, and the next is not
/// before that is settled. Of several lanes the one goes first whose entry was accepted first.
struct OutboxLanes {
    /// What stands in a lane.
    private enum Item {
        case entry(OutboxDelivery)
        /// What is not sent, and keeps what stands behind it from being sent: the entry, where it can be read.
        case held(OutboxEntry?)

        var entry: OutboxEntry? {
            switch self {
            case .entry(let delivery): delivery.entry
            case .held(let entry): entry
            }
        }
    }

    let concurrency: Int
    /// How many entries are sent, or settled, at this moment.
    private(set) var underWay = 0
    private var lanes: [RecordKey: [Item]] = [:]
    /// The lanes whose first entry may be sent, by its number. A lane is here, among those that wait, under way or held.
    private var ready = PriorityQueue<Int, RecordKey>()
    private var waiting = PriorityQueue<Duration, RecordKey>()
    private var keys: Set<String> = []

    /// Makes lanes without any entry, of which so many go on at once.
    init(concurrency: Int) {
        self.concurrency = max(1, concurrency)
    }

    /// How many entries are here, held ones that cannot be read not among them.
    var count: Int { keys.count }

    /// Whether an entry is here.
    func contains(_ entry: OutboxEntry) -> Bool { keys.contains(entry.idempotencyKey) }

    /// The entries that are here, in the order they were accepted.
    ///
    /// - Complexity: O(n log n).
    var pending: [OutboxEntry] {
        lanes.values.joined().compactMap(\.entry).sorted {
            ($0.sequence, $0.idempotencyKey) < ($1.sequence, $1.idempotencyKey)
        }
    }

    /// The entries of these that nothing holds, in no order: they are sent sooner or later.
    ///
    /// - Complexity: O(n).
    var deliverable: [OutboxEntry] {
        lanes.values.flatMap { lane in
            lane.prefix { if case .entry = $0 { true } else { false } }.compactMap(\.entry)
        }
    }

    /// Puts an entry at the end of its lane, with what is known of its deliveries.
    mutating func append(_ entry: OutboxEntry, _ history: DeliveryHistory) {
        append(.entry(OutboxDelivery(entry: entry, history: history)), to: entry.write.subject)
        keys.insert(entry.idempotencyKey)
    }

    /// Puts what is never sent at the end of a lane: an entry that nobody settles, or one that cannot be read.
    mutating func hold(_ entry: OutboxEntry?, in subject: RecordKey) {
        append(.held(entry), to: subject)
        if let entry { keys.insert(entry.idempotencyKey) }
    }

    /// Takes the entry to send next, which is under way until it is postponed or settled; `nil` if none may be sent now.
    ///
    /// - Complexity: O(log n) in the number of lanes, but for lanes whose wait is over by now.
    mutating func next(at now: Duration) -> OutboxDelivery? {
        while let first = waiting.first, first.priority <= now {
            _ = waiting.popFirst()
            makeReady(first.value)
        }
        guard underWay < concurrency, let subject = ready.popFirst(), case .entry(let delivery)? = lanes[subject]?.first
        else { return nil }
        underWay += 1
        return delivery
    }

    /// When to ask for the next entry, if nothing else happens until then; `nil` if that is of no use.
    var wakeTime: Duration? { underWay < concurrency ? waiting.first?.priority : nil }

    /// Has an entry that is under way wait until a moment, before it is sent again.
    mutating func postpone(_ delivery: OutboxDelivery, until moment: Duration) {
        let subject = delivery.entry.write.subject
        guard isFirst(delivery.entry) else { return }
        lanes[subject]?[0] = .entry(delivery)
        underWay -= 1
        waiting.insert(subject, moment)
    }

    /// Removes an entry that is under way, for good.
    mutating func settle(_ entry: OutboxEntry) {
        let subject = entry.write.subject
        guard isFirst(entry) else { return }
        lanes[subject]?.removeFirst()
        keys.remove(entry.idempotencyKey)
        underWay -= 1
        if lanes[subject]?.isEmpty == true { lanes[subject] = nil }
        makeReady(subject)
    }

    /// The entries that stand behind the first of a lane, in their order.
    func entries(behindTheFirstOf subject: RecordKey) -> [OutboxEntry] {
        (lanes[subject] ?? []).dropFirst().compactMap(\.entry)
    }

    private func isFirst(_ entry: OutboxEntry) -> Bool {
        lanes[entry.write.subject]?.first?.entry?.idempotencyKey == entry.idempotencyKey
    }

    private mutating func append(_ item: Item, to subject: RecordKey) {
        lanes[subject, default: []].append(item)
        if lanes[subject]?.count == 1 { makeReady(subject) }
    }

    private mutating func makeReady(_ subject: RecordKey) {
        guard case .entry(let delivery)? = lanes[subject]?.first else { return }
        ready.insert(subject, delivery.entry.sequence)
    }
}
