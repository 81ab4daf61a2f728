/// Decides which errors pass and which are repeats: a value without a clock, for a ``DeduplicatingErrorHandler``.
package struct RepeatFilter<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// What errors have to have in common to be repeats of one another.
    package struct Kind: Hashable, Sendable {
        let type: ObjectIdentifier
        let description: String

        /// The kind of an error. Of its description, the beginning.
        package init(_ error: any Error) {
            type = ObjectIdentifier(Swift.type(of: error))
            description = String("\(error)".prefix(2_000))
        }
    }

    private struct Memory {
        let first: any Error
        let end: Instant
        var repeats = 0
    }

    private let window: Duration
    private let capacity: Int
    private var memories: [Kind: Memory] = [:]
    /// The kinds that are remembered, the oldest first, behind so many that are forgotten. All windows are equally long, so
    /// this is also the order in which they end.
    private var kinds: [Kind] = []
    private var forgotten = 0
    private var latest: Instant?
    private var isClosed = false

    /// Makes a filter that remembers nothing yet.
    ///
    /// - Parameters:
    ///   - window: For how long equal errors are dropped behind the first.
    ///   - capacity: How many kinds of error are remembered at most; at least one.
    package init(window: Duration, capacity: Int) {
        self.window = window
        self.capacity = max(1, capacity)
    }

    /// What to pass on, in this order, now that an error has come: for each kind whose window has passed, or that has to be
    /// forgotten, what was dropped of it; and the error itself unless it is a repeat. A time that lies before an earlier one
    /// counts as that.
    ///
    /// - Complexity: O(1) amortised.
    package mutating func passing(_ error: any Error, of kind: Kind, at now: Instant) -> [any Error] {
        guard !isClosed else { return [error] }
        let now = max(now, latest ?? now)
        latest = now
        var passing: [any Error] = []
        while let oldest, oldest.end <= now { passing += forgetOldest() }
        guard memories[kind] == nil else {
            memories[kind]?.repeats += 1
            return passing
        }
        if memories.count == capacity { passing += forgetOldest() }
        memories[kind] = Memory(first: error, end: now.advanced(by: window))
        kinds.append(kind)
        return passing + [error]
    }

    /// What to pass on at the end: what was dropped of each kind, the oldest first. From then on every error passes.
    package mutating func close() -> [any Error] {
        isClosed = true
        var passing: [any Error] = []
        while oldest != nil { passing += forgetOldest() }
        return passing
    }

    private var oldest: Memory? {
        kinds.indices.contains(forgotten) ? memories[kinds[forgotten]] : nil
    }

    private mutating func forgetOldest() -> [any Error] {
        let memory = memories.removeValue(forKey: kinds[forgotten])
        forgotten += 1
        // Not before half of them are forgotten: so each is moved no more than once, taken together.
        if forgotten * 2 >= kinds.count {
            kinds.removeFirst(forgotten)
            forgotten = 0
        }
        guard let memory, memory.repeats > 0 else { return [] }
        return [RepeatedError(memory.first, repeats: memory.repeats, window: window)]
    }
}
