public import UseCases

/// A list of entities in the upstream's order, in which an entity is found by its identity.
@usableFromInline
struct EntityList<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    @usableFromInline private(set) var entities: [Entity]
    @usableFromInline let rejected: [RejectedRecord]
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

    /// Puts the entities of another list in the place of those of their identities, or takes these out where the others do not
    /// belong.
    ///
    /// - Complexity: O(n) in the number of entities, and of the shorter list's where the two have none in common.
    mutating func replace(with newer: EntityList, where belongs: (Entity) -> Bool) {
        let isShorter = entities.count < newer.entities.count
        let (shorter, longer) = isShorter ? (self, newer) : (newer, self)
        guard shorter.entities.contains(where: { longer.contains($0.id) }) else { return }
        entities = entities.compactMap { entity in
            guard let position = newer.positions[entity.id] else { return entity }
            return belongs(newer.entities[position]) ? newer.entities[position] : nil
        }
        if entities.count != positions.count { positions = Self.positions(in: entities) }
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
