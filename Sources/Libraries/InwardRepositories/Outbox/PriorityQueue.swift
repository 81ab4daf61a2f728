/// Values of which the one that comes first can be taken out.
struct PriorityQueue<Priority: Comparable & Sendable, Value: Sendable>: Sendable {
    private var heap: [(priority: Priority, value: Value)] = []

    var count: Int { heap.count }

    /// What comes first; `nil` if there is nothing.
    var first: (priority: Priority, value: Value)? { heap.first }

    /// Puts a value in.
    ///
    /// - Complexity: O(log n).
    mutating func insert(_ value: Value, _ priority: Priority) {
        heap.append((priority, value))
        var place = heap.count - 1
        while place > 0, heap[place].priority < heap[(place - 1) / 2].priority {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// Takes out what comes first; `nil` if there is nothing.
    ///
    /// - Complexity: O(log n).
    mutating func popFirst() -> Value? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first.value
    }

    private mutating func sink() {
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[child].priority < heap[least].priority {
                least = child
            }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
