import InwardCore

/// The entity or the list that a ``ReadingChanges`` sequence observes.
protocol Observation<Value>: Sendable {
    associatedtype Value: Sendable

    /// The signal of the observer, or `nil` before it is registered.
    var signal: ChangeSignal? { get }

    /// Registers an observer of the value that the next read returns.
    mutating func observe()

    /// Reads the value.
    func read(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Value>

    /// Returns whether a reader would see no difference between two values.
    func isSame(_ first: Value, _ second: Value) -> Bool

    /// The error if the deadline passes during a wait.
    var late: RepositoryError { get }
}

extension Observation {
    /// Waits for a reading that differs from the last one.
    ///
    /// - Parameters:
    ///   - policy: The policy of the first reading.
    ///   - last: The previous reading, or `nil` for the first one.
    /// - Returns: the reading, or `nil` if the task was cancelled.
    /// - Throws: a `RepositoryError`.
    mutating func next(
        _ policy: ReadPolicy,
        after last: Reading<Value>?
    ) async throws(RepositoryError) -> Reading<Value>? {
        while !Task.isCancelled {
            if last != nil, let signal {
                switch await signal.wait() {
                case .fulfilled: break
                case .cancelled: return nil
                case .deadlinePassed: throw late
                }
            }
            observe()
            signal?.note(isUncertain: true)
            do throws(RepositoryError) {
                let reading = last == nil ? try await read(policy) : try await readNewest(policy)
                signal?.note(isUncertain: reading.fallbackReason != nil)
                guard let last else { return reading }
                if isChange(from: last, to: reading) { return reading }
            } catch {
                if Task.isCancelled { return nil }
                // The upstream is unavailable, so the previous reading stays valid until the next change.
                if last == nil || !error.leavesRoomForOthers { throw error }
            }
        }
        return nil
    }

    /// Reads the newest cached value. Asks the upstream only if nothing is cached.
    private func readNewest(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Value> {
        do throws(RepositoryError) {
            return try await read(.cacheOnly)
        } catch {
            guard policy.asksUpstream, error.reason == .unavailable else { throw error }
            return try await read(.cacheFirst)
        }
    }

    private func isChange(from last: Reading<Value>, to reading: Reading<Value>) -> Bool {
        reading.isPending != last.isPending || reading.rejected != last.rejected
            || (last.isProvisional && !reading.isProvisional) || !isSame(last.value, reading.value)
    }
}

/// The observation of an entity.
struct EntityObservation<Entity: Identifiable & Sendable>: Observation
where Entity.ID: Sendable & LosslessStringConvertible {
    private let repository: Repository<Entity>
    private var id: Entity.ID
    private var observer: Observer<Entity.ID>?
    /// Whether the identifier is a pending one.
    private var isPendingID = false
    /// Whether the creation was refused, so that the identifier no longer names an entity.
    private var isRefused = false

    init(_ repository: Repository<Entity>, _ id: Entity.ID) {
        self.repository = repository
        self.id = id
    }

    var signal: ChangeSignal? { observer?.signal }

    mutating func observe() {
        while true {
            let (current, isCreated, isDelivered) = repository.pending.identity(of: id)
            if isDelivered { (id, isPendingID) = (current, false) }
            guard observer?.key == current else {
                observer = repository.observers.entities.observe(current)
                // Before the observer was registered, the upstream may have assigned another identifier. Check again.
                continue
            }
            isRefused = isPendingID && !isCreated
            if isCreated { isPendingID = true }
            return
        }
    }

    func read(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Entity?> {
        // If another instance has delivered the creation, `observe()` follows the entity.
        if isRefused, !(await repository.learnIdentityToRead(id)) {
            try repository.throwIfClosed(asking: repository.endpoint.onePath(id))
            return Reading(nil, origin: .memory)
        }
        let known = repository.memory.entities.peek(id)
        do throws(RepositoryError) {
            return try await repository.entity(id, policy).map { $0 }
        } catch {
            guard error.reason == .notFound else { throw error }
            let isDeleted = if case .deleted? = repository.pending.version(id) { true } else { false }
            return Reading(
                nil,
                origin: isDeleted || known != nil ? .memory : .upstream,
                age: isDeleted ? .zero : known?.age(at: repository.timer.now) ?? .zero,
                isPending: isDeleted
            )
        }
    }

    func isSame(_ first: Entity?, _ second: Entity?) -> Bool {
        switch (first, second) {
        case (let first?, let second?): areEqual(first, second) ?? repository.endpoint.isSame(first, second)
        case (nil, nil): true
        default: false
        }
    }

    var late: RepositoryError { repository.late(EntityQuestion(id: id)) }
}

/// The observation of a list.
struct ListObservation<Entity: Identifiable & Sendable>: Observation
where Entity.ID: Sendable & LosslessStringConvertible {
    private let repository: Repository<Entity>
    private let filter: EntityFilter<Entity>
    private var observer: Observer<EntityFilter<Entity>>?

    init(_ repository: Repository<Entity>, _ filter: EntityFilter<Entity>) {
        self.repository = repository
        self.filter = filter
    }

    var signal: ChangeSignal? { observer?.signal }

    mutating func observe() {
        if observer == nil { observer = repository.observers.lists.observe(filter) }
    }

    func read(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Entity]> {
        try await repository.entities(filter, policy)
    }

    func isSame(_ first: [Entity], _ second: [Entity]) -> Bool {
        guard first.count == second.count else { return false }
        return areEqual(first, second) ?? zip(first, second).allSatisfy(repository.endpoint.isSame)
    }

    var late: RepositoryError { repository.late(ListQuestion(filter: filter)) }
}

/// Returns whether two values are equal, or `nil` if their type is not `Equatable`.
private func areEqual<Value>(_ first: Value, _ second: Value) -> Bool? {
    (first as? any Equatable).map { $0.isEqual(to: second) }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}

extension Reading {
    /// Whether the reading is stale or a fallback, so that a fresh one with the same value is still a change.
    fileprivate var isProvisional: Bool { isStale || fallbackReason != nil }
}
