/// The moments that something waits for, the earliest first.
///
/// A binary heap whose entries know their place, so that one is taken out as fast as it is put in.
struct TimerQueue<Entry> {
    /// Names an entry, and no other that is there at another time.
    struct ID: Hashable {
        fileprivate let slot: Int
        fileprivate let generation: Int
    }

    private struct Slot {
        var generation = 0
        var moment = Duration.zero
        var place = 0
        var entry: Entry?
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The slots that hold an entry, each behind none that is later.
    private var heap: [Int] = []

    var count: Int { heap.count }

    /// The earliest moment; `nil` if there is none.
    var earliest: Duration? { heap.first.map { slots[$0].moment } }

    /// Puts an entry in.
    ///
    /// - Complexity: O(log n), and O(1) for a moment that is later than most.
    mutating func insert(_ entry: Entry, at moment: Duration) -> ID {
        let index: Int
        if let free = freeSlots.popLast() {
            index = free
        } else {
            index = slots.count
            slots.append(Slot())
        }
        slots[index].moment = moment
        slots[index].entry = entry
        heap.append(index)
        rise(from: heap.count - 1)
        return ID(slot: index, generation: slots[index].generation)
    }

    /// Takes an entry out; `nil` if it is out already.
    ///
    /// - Complexity: O(log n).
    mutating func remove(_ id: ID) -> Entry? {
        guard slots.indices.contains(id.slot), slots[id.slot].generation == id.generation else { return nil }
        return remove(at: slots[id.slot].place)
    }

    /// Takes out the entry with the earliest moment, if that has come.
    ///
    /// - Complexity: O(log n).
    mutating func popDue(at now: Duration) -> Entry? {
        guard let earliest, earliest <= now else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at place: Int) -> Entry? {
        let index = heap[place]
        let last = heap.count - 1
        if place != last { heap.swapAt(place, last) }
        heap.removeLast()
        if place != last {
            slots[heap[place]].place = place
            sink(from: place)
            rise(from: place)
        }
        slots[index].generation += 1
        freeSlots.append(index)
        defer { slots[index].entry = nil }
        return slots[index].entry
    }

    private mutating func rise(from start: Int) {
        var place = start
        let index = heap[place]
        let moment = slots[index].moment
        while place > 0 {
            let parent = (place - 1) / 2
            guard moment < slots[heap[parent]].moment else { break }
            put(heap[parent], at: place)
            place = parent
        }
        put(index, at: place)
    }

    private mutating func sink(from start: Int) {
        var place = start
        let index = heap[place]
        let moment = slots[index].moment
        while true {
            let left = 2 * place + 1
            guard left < heap.count else { break }
            let right = left + 1
            let earlier =
                right < heap.count && slots[heap[right]].moment < slots[heap[left]].moment ? right : left
            guard slots[heap[earlier]].moment < moment else { break }
            put(heap[earlier], at: place)
            place = earlier
        }
        put(index, at: place)
    }

    private mutating func put(_ index: Int, at place: Int) {
        heap[place] = index
        slots[index].place = place
    }
}
