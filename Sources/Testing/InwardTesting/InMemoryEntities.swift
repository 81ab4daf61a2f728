import InwardCore
import InwardRepositories

/// The entities of an ``InMemoryRepository``, and the prescribed results of its next calls.
struct InMemoryEntities<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    private(set) var all: [Entity]
    /// The largest number so far, of the identifiers that are whole numbers and of earlier creations.
    private var lastNumber: Int
    /// The identifiers of the entities with held creations or updates.
    private var pending: Set<Entity.ID> = []
    /// The entities with held deletions.
    private var deleted: [Entity] = []

    var holdsWrites = false
    var isClosed = false
    /// The provenance of readings, except whether they are pending.
    var provenance = Reading((), origin: .memory)
    /// The policies of the reads so far.
    var policies: [ReadPolicy] = []

    /// The error of all calls.
    var failure: RepositoryError?
    /// The errors of the next reads.
    var readFailures: [RepositoryError] = []
    /// The errors of the next writes.
    var writeFailures: [RepositoryError] = []
    /// The conflicting versions for the next updates and deletions, or `nil` for an entity that was deleted elsewhere.
    var conflicts: [Entity?] = []

    init(_ entities: [Entity]) {
        all = entities
        lastNumber = entities.compactMap(Self.number).reduce(0, max)
    }

    // MARK: Entities

    subscript(id: Entity.ID) -> Entity? { all.first { $0.id == id } }

    /// Adds an entity, or replaces the one with the same identifier in place.
    mutating func put(_ entity: Entity) {
        lastNumber = max(lastNumber, Self.number(of: entity) ?? 0)
        if let index = all.firstIndex(where: { $0.id == entity.id }) {
            all[index] = entity
        } else {
            all.append(entity)
        }
    }

    private static func number(of entity: Entity) -> Int? { Int(entity.id.description) }

    /// Returns the number for the next creation.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func remove(_ id: Entity.ID) {
        all.removeAll { $0.id == id }
        pending.remove(id)
    }

    mutating func showAsPending(_ id: Entity.ID) { pending.insert(id) }

    mutating func deliver() {
        pending = []
        deleted = []
        holdsWrites = false
    }

    // MARK: Reads

    func reading(of entity: Entity) -> Reading<Entity> {
        reading(entity, isPending: pending.contains(entity.id), rejected: [])
    }

    func reading(where isIncluded: (Entity) -> Bool) -> Reading<[Entity]> {
        let entities = all.filter(isIncluded)
        let isPending = entities.contains { pending.contains($0.id) } || deleted.contains(where: isIncluded)
        return reading(entities, isPending: isPending, rejected: provenance.rejected)
    }

    private func reading<Value>(_ value: Value, isPending: Bool, rejected: [RejectedRecord]) -> Reading<Value> {
        Reading(
            value,
            origin: provenance.origin,
            age: provenance.age,
            isStale: provenance.isStale,
            isPending: isPending,
            rejected: rejected,
            fallbackReason: provenance.fallbackReason
        )
    }

    // MARK: Writes

    /// Writes an entity, and returns the reading that the writer gets.
    mutating func write(_ entity: Entity) -> Reading<Entity> {
        put(entity)
        if holdsWrites { pending.insert(entity.id) }
        return Reading(entity, origin: holdsWrites ? .memory : .upstream, isPending: holdsWrites)
    }

    mutating func delete(_ id: Entity.ID) {
        if holdsWrites, let entity = self[id] { deleted.append(entity) }
        remove(id)
    }

    // MARK: Failures

    /// Throws the prescribed error of the next call, if any.
    mutating func throwFailure(
        _ next: WritableKeyPath<Self, [RepositoryError]>,
        _ request: String
    ) throws(RepositoryError) {
        if isClosed {
            throw RepositoryError(
                .closed,
                request: request,
                explanation: "is not answered: the repository is closed"
            )
        }
        if let failure { throw failure }
        if !self[keyPath: next].isEmpty { throw self[keyPath: next].removeFirst() }
    }

    /// Throws the prescribed conflict of the next edit, if any, after adopting the other version.
    mutating func throwConflict(of id: Entity.ID, mine: Entity?, _ request: String) throws(WriteError<Entity>) {
        guard !conflicts.isEmpty else { return }
        let theirs = conflicts.removeFirst()
        remove(id)
        if let theirs { put(theirs) }
        let explanation = "was not changed, because it was changed elsewhere in the meantime"
        let refusal = RepositoryError(.conflict, request: request, explanation: explanation)
        throw .conflict(WriteConflict(mine: mine, theirs: theirs, refusal: refusal))
    }
}
