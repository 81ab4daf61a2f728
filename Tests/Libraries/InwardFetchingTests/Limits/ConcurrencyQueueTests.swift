import InwardTesting
import Testing

@testable import InwardFetching

struct ConcurrencyQueueTests {
    /// A simple model of the queue: waiters are a list in order of arrival.
    private struct Model {
        struct Waiter {
            let name: Int
            let priority: TaskPriority
        }

        var limit: Int
        let capacity: Int
        var underWay = 0
        var waiting: [Waiter] = []

        /// The state that determines its behavior.
        var shape: [Int] { [limit, underWay] + waiting.map { Int($0.priority.rawValue) } }

        mutating func arrive(_ waiter: Waiter) -> String {
            if underWay < limit {
                underWay += 1
                return "goes"
            }
            guard waiting.count == capacity else {
                waiting.append(waiter)
                return "waits"
            }
            guard let lowest = waiting.map(\.priority).min(), lowest < waiter.priority,
                let last = waiting.lastIndex(where: { $0.priority == lowest })
            else { return "refused" }
            let shed = waiting.remove(at: last)
            waiting.append(waiter)
            return "waits instead of \(shed.name)"
        }

        mutating func next() -> [Int] {
            var names: [Int] = []
            while underWay < limit, let highest = waiting.map(\.priority).max(),
                let first = waiting.firstIndex(where: { $0.priority == highest })
            {
                names.append(waiting.remove(at: first).name)
                underWay += 1
            }
            return names
        }
    }

    private enum Step {
        case arrive(TaskPriority)
        case leave(Int)
        case release
        case change(Int)
    }

    /// The queue and its model.
    private struct Pair {
        var model: Model
        var queue: ConcurrencyQueue<Int>
        var tickets: [Int: ConcurrencyQueue<Int>.Ticket] = [:]
        var lastName = 0

        init(limit: Int, capacity: Int) {
            model = Model(limit: limit, capacity: capacity)
            queue = ConcurrencyQueue(limit: limit, capacity: capacity)
        }

        var steps: [Step] {
            [.arrive(.low), .arrive(.medium), .arrive(.high), .change(1), .change(2), .change(3)]
                + model.waiting.indices.map { .leave($0) } + (model.underWay > 0 ? [.release] : [])
        }

        /// Takes a step in both, and expects the same result.
        mutating func take(_ step: Step) {
            switch step {
            case .arrive(let priority):
                lastName += 1
                let expected = model.arrive(Model.Waiter(name: lastName, priority: priority))
                let arrival = arrive(lastName, priority)
                #expect(arrival == expected)
            case .leave(let index):
                guard let ticket = tickets[model.waiting.remove(at: index).name] else { return }
                let (first, second) = (queue.leave(ticket), queue.leave(ticket))
                #expect(first)
                #expect(!second)
            case .release:
                model.underWay -= 1
                let (released, expected) = (queue.release(), model.next())
                #expect(released == expected)
            case .change(let limit):
                model.limit = limit
                let (released, expected) = (queue.change(limit: limit), model.next())
                #expect(released == expected)
            }
            #expect(queue.underWay == model.underWay)
            #expect(queue.waiting == model.waiting.count)
            #expect(queue.waiting <= queue.capacity)
            #expect(queue.waiting == 0 || queue.underWay >= queue.limit)
        }

        private mutating func arrive(_ name: Int, _ priority: TaskPriority) -> String {
            switch queue.arrive(name, priority: priority) {
            case .goes: return "goes"
            case .refused: return "refused"
            case .waits(let ticket, let shed):
                tickets[name] = ticket
                return shed.map { "waits instead of \($0)" } ?? "waits"
            }
        }
    }

    @Test(arguments: 0...3)
    func everyStepFromEveryStateMatchesTheModel(capacity: Int) {
        let start = Pair(limit: 2, capacity: capacity)
        var seen: Set<[Int]> = [start.model.shape]
        var frontier = [start]
        while !frontier.isEmpty {
            var next: [Pair] = []
            for pair in frontier {
                for step in pair.steps {
                    var changed = pair
                    changed.take(step)
                    if seen.insert(changed.model.shape).inserted { next.append(changed) }
                }
            }
            frontier = next
        }
        // Three limits, up to three requests under way, and waiters.
        #expect(seen.count > 6 * capacity)
    }

    @Test func longRandomWalksMatchTheModel() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var pair = Pair(limit: 3, capacity: 20)
        var longest = 0
        for _ in 0..<5_000 {
            // Arrivals are twice as likely as departures, so that the queue fills and sometimes empties.
            let comes = Int.random(in: 0..<3, using: &random) > 0
            let steps = pair.steps.filter { step in
                if case .arrive = step { return comes }
                return !comes
            }
            guard let step = steps.randomElement(using: &random) else { continue }
            pair.take(step)
            longest = max(longest, pair.queue.waiting)
        }
        #expect(longest == 20, "The seed was \(seed).")
    }

    @Test func noRequestIsAdmittedBeyondTheLimit() {
        var queue = ConcurrencyQueue<Int>(limit: 2, capacity: 0)
        let admitted = [queue.admit(), queue.admit(), queue.admit()]
        #expect(admitted == [true, true, false])
        let next = queue.release()
        #expect(next.isEmpty)
        let isAdmittedNow = queue.admit()
        #expect(isAdmittedNow)
        #expect(queue.underWay == 2)
    }

    @Test(arguments: [0, -1, .min])
    func limitsAndCapacitiesAreClamped(number: Int) {
        var queue = ConcurrencyQueue<Int>(limit: number, capacity: number)
        #expect(queue.limit == 1)
        #expect(queue.capacity == 0)
        _ = queue.change(limit: number)
        #expect(queue.limit == 1)
    }
}
