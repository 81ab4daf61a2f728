/// A priority queue: the element with the least priority comes out first.
///
/// A binary heap whose elements know their place, so that any of them can be removed by its identifier. It serves the timers, by
/// their moments, and the outbox, by order and by time.
package struct PriorityQueue<Priority: Comparable & Sendable, Element> {
    /// Identifies an element for as long as it is in the queue.
    package struct ID: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let generation: Int
    }

    fileprivate struct Slot {
        var generation = 0
        var priority: Priority
        var place = 0
        var element: Element?
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The slots that hold an element, in the order of a heap.
    private var heap: [Int] = []

    /// Creates an empty queue.
    package init() {}

    /// How many elements are in the queue.
    package var count: Int { heap.count }

    /// The element that comes out next, with its priority; `nil` if the queue is empty.
    package var first: (priority: Priority, element: Element)? {
        guard let index = heap.first, let element = slots[index].element else { return nil }
        return (slots[index].priority, element)
    }

    /// The least priority in the queue; `nil` if it is empty.
    package var firstPriority: Priority? { heap.first.map { slots[$0].priority } }

    /// Inserts an element.
    ///
    /// - Complexity: O(log n), and O(1) for a priority greater than most.
    @discardableResult
    package mutating func insert(_ element: Element, at priority: Priority) -> ID {
        let index: Int
        if let free = freeSlots.popLast() {
            index = free
            slots[index].priority = priority
            slots[index].element = element
        } else {
            index = slots.count
            slots.append(Slot(priority: priority, element: element))
        }
        heap.append(index)
        rise(from: heap.count - 1)
        return ID(slot: index, generation: slots[index].generation)
    }

    /// Removes an element; `nil` if it is not in the queue any more.
    ///
    /// - Complexity: O(log n).
    package mutating func remove(_ id: ID) -> Element? {
        guard slots.indices.contains(id.slot), slots[id.slot].generation == id.generation else { return nil }
        return remove(at: slots[id.slot].place)
    }

    /// Removes the element with the least priority; `nil` if the queue is empty.
    ///
    /// - Complexity: O(log n).
    package mutating func popFirst() -> Element? { heap.isEmpty ? nil : remove(at: 0) }

    /// Removes the first element if its priority is at most `limit`.
    ///
    /// - Complexity: O(log n).
    package mutating func popFirst(through limit: Priority) -> Element? {
        guard let firstPriority, firstPriority <= limit else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at place: Int) -> Element? {
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
        defer { slots[index].element = nil }
        return slots[index].element
    }

    private mutating func rise(from start: Int) {
        var place = start
        let index = heap[place]
        let priority = slots[index].priority
        while place > 0 {
            let parent = (place - 1) / 2
            guard priority < slots[heap[parent]].priority else { break }
            put(heap[parent], at: place)
            place = parent
        }
        put(index, at: place)
    }

    private mutating func sink(from start: Int) {
        var place = start
        let index = heap[place]
        let priority = slots[index].priority
        while true {
            let left = 2 * place + 1
            guard left < heap.count else { break }
            let right = left + 1
            let lesser =
                right < heap.count && slots[heap[right]].priority < slots[heap[left]].priority ? right : left
            guard slots[heap[lesser]].priority < priority else { break }
            put(heap[lesser], at: place)
            place = lesser
        }
        put(index, at: place)
    }

    private mutating func put(_ index: Int, at place: Int) {
        heap[place] = index
        slots[index].place = place
    }
}

extension PriorityQueue: Sendable where Element: Sendable {}
extension PriorityQueue.Slot: Sendable where Element: Sendable {}
