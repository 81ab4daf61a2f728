public import InwardCore

/// A list of entities in the upstream's order, with lookup by identifier.
@usableFromInline
struct EntityList<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable & LosslessStringConvertible {
    @usableFromInline private(set) var entities: [Entity]
    @usableFromInline let rejected: [RejectedRecord]
    /// The encoded size of the list in bytes.
    private(set) var byteCount: Int
    private var byteCounts: [Int]
    private var positions: [Entity.ID: Int]

    /// Creates a list. The encoded size is divided equally among the entities.
    init(_ entities: [Entity], byteCount: Int = 0, rejected: [RejectedRecord]) {
        self.entities = entities
        self.rejected = rejected
        self.byteCount = byteCount
        byteCounts = Array(repeating: byteCount / max(1, entities.count), count: entities.count)
        positions = Self.positions(in: entities)
    }

    /// The same list, whose entities are in an array that nothing else references.
    var withOwnArray: EntityList {
        var list = self
        list.entities = entities.map(\.self)
        return list
    }

    /// Returns whether the list contains an entity with an identifier.
    func contains(_ id: Entity.ID) -> Bool { positions[id] != nil }

    /// Replaces the entity with the same identifier, if the list contains one.
    mutating func replace(with entity: Entity, byteCount: Int) {
        guard let position = positions[entity.id] else { return }
        entities[position] = entity
        setByteCount(byteCount, at: position)
    }

    /// Replaces entities with those of another list that have the same identifiers, and removes those that no longer belong
    /// here.
    ///
    /// - Returns: whether the lists have an entity in common.
    /// - Complexity: O(n) in the number of entities. If the lists have no entity in common, O(n) in the length of the shorter
    ///   list.
    mutating func replace(with newer: EntityList, where belongs: (Entity) -> Bool) -> Bool {
        let isShorter = entities.count < newer.entities.count
        let (shorter, longer) = isShorter ? (self, newer) : (newer, self)
        guard shorter.entities.contains(where: { longer.contains($0.id) }) else { return false }
        var keptPositions: [Int] = []
        for position in entities.indices {
            guard let newPosition = newer.positions[entities[position].id] else {
                keptPositions.append(position)
                continue
            }
            guard belongs(newer.entities[newPosition]) else {
                setByteCount(0, at: position)
                continue
            }
            entities[position] = newer.entities[newPosition]
            setByteCount(newer.byteCounts[newPosition], at: position)
            keptPositions.append(position)
        }
        guard keptPositions.count != entities.count else { return true }
        entities = keptPositions.map { entities[$0] }
        byteCounts = keptPositions.map { byteCounts[$0] }
        positions = Self.positions(in: entities)
        return true
    }

    /// Appends an entity.
    ///
    /// - Complexity: O(1) on average, if nothing else references the ``entities``.
    mutating func append(_ entity: Entity, byteCount: Int) {
        positions[entity.id] = entities.count
        entities.append(entity)
        byteCounts.append(byteCount)
        self.byteCount += byteCount
    }

    /// Removes the entity with an identifier, if there is one.
    mutating func remove(_ id: Entity.ID) {
        guard let position = positions[id] else { return }
        setByteCount(0, at: position)
        entities.remove(at: position)
        byteCounts.remove(at: position)
        positions = Self.positions(in: entities)
    }

    private mutating func setByteCount(_ count: Int, at position: Int) {
        byteCount += count - byteCounts[position]
        byteCounts[position] = count
    }

    private static func positions(in entities: [Entity]) -> [Entity.ID: Int] {
        Dictionary(zip(entities.lazy.map(\.id), entities.indices), uniquingKeysWith: { first, _ in first })
    }
}
