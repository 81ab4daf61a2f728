import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The queues of an ``Outbox``, which determine the entry to send next. It has no clock: callers pass the time.
///
/// Each subject has a partition, a FIFO queue of its entries. Only the first entry of a partition is sent. The next one follows
/// when the first is settled. The partition whose first entry was accepted earliest has priority.
struct OutboxPartitions {
    /// An entry, or an unreadable record, that is not sent.
    struct HeldItem: Sendable {
        let name: OutboxEntryName
        let entry: OutboxEntry?
        let reason: UndeliverableEntryError.Reason
        let byteCount: Int
        /// The note of the entry's attempts, if the entry can be sent once it is released.
        var note: AttemptNote?
    }

    /// An item in a partition.
    enum Item: Sendable {
        case delivery(OutboxDelivery)
        /// Not sent, and blocks the items after it.
        case held(HeldItem)
        /// Being discarded, and not sent in the meantime.
        case suspended(OutboxDelivery)

        var entry: OutboxEntry? {
            switch self {
            case .delivery(let delivery), .suspended(let delivery): delivery.entry
            case .held(let item): item.entry
            }
        }

        var id: String {
            switch self {
            case .delivery(let delivery), .suspended(let delivery): delivery.entry.idempotencyKey
            case .held(let item): item.name.idempotencyKey
            }
        }

        var byteCount: Int {
            switch self {
            case .delivery(let delivery), .suspended(let delivery): delivery.entry.write.byteCount
            case .held(let item): item.byteCount
            }
        }

        /// The note of the entry's attempts, if the entry is held and can be sent once it is released.
        var noteWhileHeld: AttemptNote? { if case .held(let item) = self { item.note } else { nil } }

        /// Whether the upstream may have done the write, although its response is not known.
        var mayHaveArrived: Bool {
            isOutcomeUnknown || noteWhileHeld?.mayHaveArrived == true || noteWhileHeld?.isSending == true
        }

        var isOutcomeUnknown: Bool {
            switch self {
            case .delivery(let delivery), .suspended(let delivery): delivery.mayHaveArrived
            case .held: false
            }
        }

        var name: OutboxEntryName {
            switch self {
            case .delivery(let delivery), .suspended(let delivery): OutboxEntryName(delivery.entry)
            case .held(let item): item.name
            }
        }
    }

    /// The items of a partition, and its state: in a queue, where its ticket identifies it, or in delivery.
    private struct Partition {
        var items = FIFOQueue<Item>()
        /// The ticket of the partition's current place in a queue. Places with other tickets are obsolete.
        var ticket = 0
        var isUnderWay = false
        /// Whether the entry in delivery is being settled.
        var isAnswered = false
    }

    private struct Place: Sendable {
        let subject: RecordKey
        let ticket: Int
    }

    /// While this many answered entries are being settled, none is sent, so that answers do not pile up in front of a slow store.
    private static let maximumAnswered = 64

    let concurrency: Int
    /// The number of entries that are being sent.
    private(set) var underWay = 0
    /// The number of entries that the upstream has answered and that are being settled.
    private(set) var answeredCount = 0
    /// The total size of the entries in bytes, held ones included.
    private(set) var byteCount = 0
    /// The number of entries that the upstream may have done, although its responses are not known.
    private(set) var outcomeUnknownCount = 0
    /// The number of held items.
    private(set) var undeliverableCount = 0
    private var partitions: [RecordKey: Partition] = [:]
    /// The partitions whose first entry may be sent, by its sequence number. Each partition is ready, waiting, in delivery, or
    /// held.
    private var ready = PriorityQueue<Int, Place>()
    private var waiting = PriorityQueue<Duration, Place>()
    private var lastTicket = 0
    private var subjects: [String: RecordKey] = [:]

    /// Creates an empty set of partitions with a maximum number of concurrent deliveries.
    init(concurrency: Int) {
        self.concurrency = max(1, concurrency)
    }

    /// The number of entries, held ones included.
    var count: Int { subjects.count }

    /// The number of partitions.
    var partitionCount: Int { partitions.count }

    /// Returns whether a subject has entries.
    func hasEntries(of subject: RecordKey) -> Bool { partitions[subject] != nil }

    /// Returns whether an entry is in a partition.
    func contains(_ entry: OutboxEntry) -> Bool { subjects[entry.idempotencyKey] != nil }

    /// The readable entries, in no particular order.
    ///
    /// - Complexity: O(n).
    var entries: [OutboxEntry] { partitions.values.flatMap { $0.items.all.compactMap(\.entry) } }

    /// The entries that are neither held nor blocked by a held one, in no particular order. They will be sent eventually.
    ///
    /// - Complexity: O(n).
    var deliverable: [OutboxEntry] {
        partitions.values.flatMap { partition in
            partition.items.all.prefix { if case .delivery = $0 { true } else { false } }.compactMap(\.entry)
        }
    }

    /// When the oldest readable entry was accepted, or `nil` if there is none. A retried dead letter is at the end of its
    /// partition, although it was accepted earlier than the entries before it.
    ///
    /// - Complexity: O(n).
    var oldestAcceptedAt: Date? {
        partitions.values.lazy.compactMap { $0.items.all.lazy.compactMap { $0.entry?.acceptedAt }.min() }.min()
    }

    /// All items, by their keys, and whether each is in delivery.
    ///
    /// - Complexity: O(n).
    var items: [String: (item: Item, isUnderWay: Bool)] {
        var all: [String: (item: Item, isUnderWay: Bool)] = [:]
        for partition in partitions.values {
            for (place, item) in partition.items.all.enumerated() {
                all[item.id] = (item, place == 0 && partition.isUnderWay)
            }
        }
        return all
    }

    /// Returns the item of an entry, and whether it is in delivery.
    ///
    /// - Complexity: O(n) in the number of entries of its subject.
    func item(_ id: String) -> (item: Item, subject: RecordKey, isUnderWay: Bool)? {
        guard let subject = subjects[id], let partition = partitions[subject],
            let item = partition.items.all.first(where: { $0.id == id })
        else { return nil }
        return (item, subject, partition.isUnderWay && partition.items.first?.id == id)
    }

    /// Appends an entry to its partition.
    mutating func append(_ delivery: OutboxDelivery) {
        append(.delivery(delivery), to: delivery.entry.write.subject)
    }

    /// Appends a held item to its partition.
    mutating func hold(_ item: HeldItem) {
        append(.held(item), to: item.name.subject)
    }

    /// The subjects of the held entries that can be sent once they are released.
    ///
    /// - Complexity: O(n).
    var heldSubjects: Set<RecordKey> {
        Set(partitions.filter { $0.value.items.all.contains { $0.noteWhileHeld != nil } }.keys)
    }

    /// Releases the held entries that can be sent.
    ///
    /// - Complexity: O(n log n).
    mutating func release(_ delivery: (OutboxEntry, AttemptNote) -> OutboxDelivery) {
        for subject in heldSubjects {
            guard var items = partitions[subject]?.items else { continue }
            items.replace({ $0.noteWhileHeld != nil }) { held in
                guard let entry = held.entry, let note = held.noteWhileHeld else { return held }
                let item = Item.delivery(delivery(entry, note))
                count(held, -1)
                count(item, 1)
                return item
            }
            partitions[subject]?.items = items
            enqueue(subject)
        }
    }

    /// Returns the key of the entry to send next, or `nil` if none may be sent now.
    mutating func nextKey(at now: Duration) -> String? {
        while let first = waiting.first, first.priority <= now {
            _ = waiting.popFirst()
            if isCurrent(first.element) { enqueue(first.element.subject, isDue: true) }
        }
        while let first = ready.first, !isCurrent(first.element) { _ = ready.popFirst() }
        guard hasRoom, let first = ready.first else { return nil }
        return partitions[first.element.subject]?.items.first?.id
    }

    /// Whether one more entry may be sent.
    private var hasRoom: Bool { underWay < concurrency && answeredCount < Self.maximumAnswered }

    /// Returns the entry to send next, or `nil` if none may be sent now. The entry is in delivery until it is postponed or
    /// settled. Until then, or until it is answered, it counts as being sent.
    ///
    /// - Complexity: O(log n) in the number of partitions, except for partitions whose wait has just ended.
    mutating func next(at now: Duration) -> OutboxDelivery? {
        guard nextKey(at: now) != nil, let place = ready.popFirst(),
            case .delivery(let delivery)? = partitions[place.subject]?.items.first
        else { return nil }
        underWay += 1
        partitions[place.subject]?.isUnderWay = true
        return delivery
    }

    /// When to ask for the next entry if nothing else happens until then, or `nil` if only another event can make one
    /// available.
    var wakeTime: Duration? {
        mutating get {
            while let first = waiting.first, !isCurrent(first.element) { _ = waiting.popFirst() }
            return hasRoom ? waiting.firstPriority : nil
        }
    }

    /// Counts an entry in delivery as answered, so that another one may be sent while it is being settled.
    mutating func answer(_ entry: OutboxEntry) {
        let subject = entry.write.subject
        guard isUnderWay(entry), partitions[subject]?.isAnswered == false else { return }
        partitions[subject]?.isAnswered = true
        underWay -= 1
        answeredCount += 1
    }

    /// Postpones an entry in delivery until a time.
    mutating func postpone(_ delivery: OutboxDelivery, until moment: Duration) {
        let subject = delivery.entry.write.subject
        guard isUnderWay(delivery.entry), let old = partitions[subject]?.items.first else { return }
        var delivery = delivery
        delivery.nextAttempt = moment
        count(old, -1)
        count(.delivery(delivery), 1)
        // It may have been revised.
        byteCount += delivery.entry.write.byteCount - old.byteCount
        partitions[subject]?.items.first = .delivery(delivery)
        endDelivery(in: subject)
        enqueue(subject)
    }

    /// Removes an entry in delivery permanently.
    ///
    /// - Complexity: O(log n) in the number of partitions, amortized.
    mutating func settle(_ entry: OutboxEntry) {
        let subject = entry.write.subject
        guard isUnderWay(entry), let item = partitions[subject]?.items.popFirst() else { return }
        forget(item)
        endDelivery(in: subject)
        goOn(subject)
    }

    private mutating func endDelivery(in subject: RecordKey) {
        if partitions[subject]?.isAnswered == true { answeredCount -= 1 } else { underWay -= 1 }
        partitions[subject]?.isUnderWay = false
        partitions[subject]?.isAnswered = false
    }

    /// Removes an item, unless it is in delivery.
    ///
    /// - Complexity: O(n) in the number of entries of its subject.
    mutating func remove(_ id: String) {
        guard let (item, subject, isUnderWay) = item(id), !isUnderWay else { return }
        let isFirst = partitions[subject]?.items.first?.id == id
        partitions[subject]?.items.removeAll { $0.id == id }
        forget(item)
        if isFirst { goOn(subject) }
    }

    /// Suspends an entry that is not in delivery: it is not sent until it is resumed.
    mutating func suspend(_ id: String) {
        replace(id) { if case .delivery(let delivery) = $0 { .suspended(delivery) } else { $0 } }
    }

    /// Resumes a suspended entry.
    mutating func resume(_ id: String) {
        replace(id) { if case .suspended(let delivery) = $0 { .delivery(delivery) } else { $0 } }
    }

    /// Replaces an entry that is not in delivery with a revision of it.
    ///
    /// - Complexity: O(n) in the number of entries of its subject.
    mutating func revise(_ entry: OutboxEntry) {
        var growth = 0
        replace(entry.idempotencyKey) { item in
            var revised = item
            switch item {
            case .delivery(var delivery):
                delivery.entry = entry
                revised = .delivery(delivery)
            case .suspended(var delivery):
                delivery.entry = entry
                revised = .suspended(delivery)
            case .held(let held):
                revised = .held(
                    HeldItem(
                        name: held.name,
                        entry: entry,
                        reason: held.reason,
                        byteCount: entry.write.byteCount,
                        note: held.note
                    )
                )
            }
            growth = revised.byteCount - item.byteCount
            return revised
        }
        byteCount += growth
    }

    private mutating func replace(_ id: String, by replacement: (Item) -> Item) {
        guard let (_, subject, isUnderWay) = item(id), !isUnderWay else { return }
        partitions[subject]?.items.replace({ $0.id == id }, by: replacement)
        if partitions[subject]?.items.first?.id == id { enqueue(subject) }
    }

    /// Ends the wait of the first entry of a partition.
    mutating func wake(_ subject: RecordKey) {
        guard let partition = partitions[subject], !partition.isUnderWay,
            case .delivery(var delivery)? = partition.items.first,
            delivery.nextAttempt != nil
        else { return }
        delivery.nextAttempt = nil
        partitions[subject]?.items.first = .delivery(delivery)
        enqueue(subject)
    }

    /// Makes the first entry of a partition the next one to send, regardless of its wait.
    mutating func prefer(_ subject: RecordKey) {
        wake(subject)
        guard let partition = partitions[subject], !partition.isUnderWay, case .delivery? = partition.items.first else {
            return
        }
        lastTicket += 1
        partitions[subject]?.ticket = lastTicket
        ready.insert(Place(subject: subject, ticket: lastTicket), at: .min)
    }

    /// Ends the waits of the first entries that satisfy a condition.
    ///
    /// - Complexity: O(n log n) in the number of partitions.
    mutating func wakeAll(where isWoken: (OutboxDelivery) -> Bool) {
        for (subject, partition) in partitions {
            if case .delivery(let delivery)? = partition.items.first, isWoken(delivery) { wake(subject) }
        }
        // Otherwise, obsolete places would take up memory until their time comes.
        var rest = PriorityQueue<Duration, Place>()
        while let first = waiting.first {
            _ = waiting.popFirst()
            if isCurrent(first.element) { rest.insert(first.element, at: first.priority) }
        }
        waiting = rest
    }

    /// Returns the first entry of a subject, or `nil` if it has none or the first cannot be read.
    func first(of subject: RecordKey) -> OutboxEntry? { partitions[subject]?.items.first?.entry }

    /// Returns the entries of a partition that follow an entry, in order.
    ///
    /// - Complexity: O(n) in the number of entries of the subject.
    func entries(behind id: String, of subject: RecordKey) -> [OutboxEntry] {
        guard let items = partitions[subject]?.items, items.count > 1 else { return [] }
        return items.all.drop { $0.id != id }.dropFirst().compactMap { $0.entry }
    }

    private func isUnderWay(_ entry: OutboxEntry) -> Bool {
        guard let partition = partitions[entry.write.subject], partition.isUnderWay else { return false }
        return partition.items.first?.id == entry.idempotencyKey
    }

    private func isCurrent(_ place: Place) -> Bool { partitions[place.subject]?.ticket == place.ticket }

    private mutating func append(_ item: Item, to subject: RecordKey) {
        subjects[item.id] = subject
        count(item, 1)
        byteCount += item.byteCount
        partitions[subject, default: Partition()].items.append(item)
        if partitions[subject]?.items.count == 1 { enqueue(subject) }
    }

    private mutating func forget(_ item: Item) {
        subjects[item.id] = nil
        byteCount -= item.byteCount
        count(item, -1)
    }

    private mutating func count(_ item: Item, _ change: Int) {
        if item.isOutcomeUnknown { outcomeUnknownCount += change }
        if case .held = item { undeliverableCount += change }
    }

    /// Enqueues a partition whose first entry was removed, or removes the partition if it is empty.
    private mutating func goOn(_ subject: RecordKey) {
        if partitions[subject]?.items.isEmpty == true {
            partitions[subject] = nil
        } else {
            enqueue(subject)
        }
    }

    /// Inserts a partition into the queue for the state of its first entry, unless the entry is held.
    ///
    /// - Parameters:
    ///   - subject: The subject of the partition.
    ///   - isDue: Whether the wait of the first entry is over.
    private mutating func enqueue(_ subject: RecordKey, isDue: Bool = false) {
        lastTicket += 1
        partitions[subject]?.ticket = lastTicket
        guard case .delivery(let delivery)? = partitions[subject]?.items.first else { return }
        let place = Place(subject: subject, ticket: lastTicket)
        if let moment = delivery.nextAttempt, !isDue {
            waiting.insert(place, at: moment)
        } else {
            ready.insert(place, at: delivery.entry.sequence)
        }
    }
}
