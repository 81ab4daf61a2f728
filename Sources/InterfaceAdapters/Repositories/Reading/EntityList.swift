import UseCases

/// A list of entities in the upstream's order, in which an entity is found by its identity.
struct EntityList<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    private(set) var entities: [Entity]
    let rejected: [RejectedRecord]
    private var positions: [Entity.ID: Int]

    init(_ entities: [Entity], rejected: [RejectedRecord]) {
        self.entities = entities
        self.rejected = rejected
        positions = Self.positions(in: entities)
    }

    /// Whether an entity of this identity is in the list.
    func contains(_ id: Entity.ID) -> Bool { positions[id] != nil }

    /// Puts another in the place of the entity of its identity, if there is one.
    mutating func replace(with entity: Entity) {
        if let position = positions[entity.id] { entities[position] = entity }
    }

    /// Adds an entity at the end.
    mutating func append(_ entity: Entity) {
        positions[entity.id] = entities.count
        entities.append(entity)
    }

    /// Takes the entity of an identity out, if there is one.
    mutating func remove(_ id: Entity.ID) {
        guard let position = positions[id] else { return }
        entities.remove(at: position)
        positions = Self.positions(in: entities)
    }

    private static func positions(in entities: [Entity]) -> [Entity.ID: Int] {
        Dictionary(zip(entities.lazy.map(\.id), entities.indices), uniquingKeysWith: { first, _ in first })
    }
}
