/// A priority queue. The element with the lowest priority value comes out first.
///
/// It is a binary heap that tracks each element's position, so you can remove any element by its identifier. Timers
/// are ordered by due time, the writes of an outbox by sequence number and by due time, and unused sessions by last use.
///
/// The type is inlinable, so that other modules specialize it. Otherwise each operation would look up type metadata.
@usableFromInline
package struct PriorityQueue<Priority: Comparable & Sendable, Element> {
    /// The identity of an element while it is in the queue.
    @usableFromInline
    package struct ID: Hashable, Sendable {
        @usableFromInline let slot: Int
        @usableFromInline let generation: Int

        @inlinable
        init(slot: Int, generation: Int) {
            (self.slot, self.generation) = (slot, generation)
        }
    }

    @usableFromInline
    struct Slot {
        @usableFromInline var generation = 0
        @usableFromInline var priority: Priority
        @usableFromInline var place = 0
        @usableFromInline var element: Element?

        @inlinable
        init(priority: Priority, element: Element) {
            (self.priority, self.element) = (priority, element)
        }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline var freeSlots: [Int] = []
    /// The occupied slots, in heap order.
    @usableFromInline var heap: [Int] = []

    /// Creates an empty queue.
    @inlinable
    package init() {}

    /// The number of elements in the queue.
    @inlinable
    package var count: Int { heap.count }

    /// The next element to come out and its priority, or `nil` if the queue is empty.
    @inlinable
    package var first: (priority: Priority, element: Element)? {
        guard let index = heap.first, let element = slots[index].element else { return nil }
        return (slots[index].priority, element)
    }

    /// The lowest priority in the queue, or `nil` if the queue is empty.
    @inlinable
    package var firstPriority: Priority? { heap.first.map { slots[$0].priority } }

    /// Inserts an element.
    ///
    /// - Complexity: O(log n), or O(1) if the priority is greater than most others.
    @inlinable
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

    /// Removes an element and returns it, or returns `nil` if the element is no longer in the queue.
    ///
    /// - Complexity: O(log n).
    @inlinable
    package mutating func remove(_ id: ID) -> Element? {
        guard slots.indices.contains(id.slot), slots[id.slot].generation == id.generation else { return nil }
        return remove(at: slots[id.slot].place)
    }

    /// Removes and returns the element with the lowest priority, or returns `nil` if the queue is empty.
    ///
    /// - Complexity: O(log n).
    @inlinable
    package mutating func popFirst() -> Element? { heap.isEmpty ? nil : remove(at: 0) }

    /// Removes and returns the first element if its priority is at most `limit`.
    ///
    /// - Complexity: O(log n).
    @inlinable
    package mutating func popFirst(through limit: Priority) -> Element? {
        guard let firstPriority, firstPriority <= limit else { return nil }
        return remove(at: 0)
    }

    @inlinable
    mutating func remove(at place: Int) -> Element? {
        let index = heap[place]
        let last = heap.count - 1
        if place != last { heap.swapAt(place, last) }
        heap.removeLast()
        if place != last {
            sink(from: place)
            rise(from: place)
        }
        slots[index].generation += 1
        freeSlots.append(index)
        defer { slots[index].element = nil }
        return slots[index].element
    }

    @inlinable
    mutating func rise(from start: Int) {
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

    @inlinable
    mutating func sink(from start: Int) {
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

    @inlinable
    mutating func put(_ index: Int, at place: Int) {
        heap[place] = index
        slots[index].place = place
    }
}

extension PriorityQueue: Sendable where Element: Sendable {}
extension PriorityQueue.Slot: Sendable where Element: Sendable {}
