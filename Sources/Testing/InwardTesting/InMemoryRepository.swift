public import InwardCore
public import InwardRepositories
import Synchronization

/// An in-memory repository for tests of use cases, with the reads and writes of a `Repository`.
///
/// ```swift
/// let first = Comment(id: 1, postID: 7, body: "Well said.")
/// let comments = InMemoryRepository([first]) { (draft: CommentDraft, number) in
///     Comment(id: number, postID: draft.postID, body: draft.body)
/// }
/// let reply = try await comments.create(CommentDraft(postID: 7, body: "Very well said."))
/// print(reply.value.id)  // 2
/// ```
///
/// If `Repository` conforms to your port with an empty extension, so does this class:
///
/// ```swift
/// protocol CommentRepository: Sendable {
///     func entity(_ id: Comment.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Comment>
/// }
///
/// extension Repository: CommentRepository where Entity == Comment {}
/// extension InMemoryRepository: CommentRepository where Entity == Comment {}
/// ```
///
/// Reads are answered from memory regardless of their policy. Writes take effect immediately. After ``holdWrites()``, they are
/// shown as pending until ``deliverWrites()``.
public final class InMemoryRepository<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    private let creation: @Sendable (any Encodable, Int) -> Entity?
    private let state: Mutex<InMemoryEntities<Entity>>

    /// Creates a repository that cannot create entities from drafts.
    ///
    /// - Parameters:
    ///   - entities: The entities, in order. Entities with equal identifiers are all kept.
    ///   - rejected: The damaged records that every list reports as omitted.
    ///   - failure: The error that calls throw, or `nil` if they succeed.
    public init(_ entities: [Entity] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        creation = { _, _ in nil }
        state = Mutex(InMemoryEntities(entities))
        setProvenance(rejected: rejected)
        fail(with: failure)
    }

    /// Creates a repository that can create entities from drafts of a type.
    ///
    /// - Parameters:
    ///   - entities: The entities, in order. Entities with equal identifiers are all kept.
    ///   - creation: Returns the entity for a draft. The number is new: it is greater than all identifiers that are whole
    ///     numbers. The closure must not use the repository.
    public init<Draft: Encodable & SendableMetatype>(
        _ entities: [Entity] = [],
        creating creation: @escaping @Sendable (_ draft: Draft, _ number: Int) -> Entity
    ) {
        self.creation = { draft, number in (draft as? Draft).map { creation($0, number) } }
        state = Mutex(InMemoryEntities(entities))
    }

    // MARK: Reading

    /// Returns the entity with an identifier.
    ///
    /// - Throws: The prescribed `RepositoryError`, `notFound`, `closed`, or `cancelled`.
    public func entity(
        _ id: Entity.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<Entity> {
        let request = Self.name(id)
        return try read(request, policy) { state throws(RepositoryError) in
            guard let entity = state[id] else { throw Self.absence(request) }
            return state.reading(of: entity)
        }
    }

    /// Returns the entities that match a filter, in the order in which they were added.
    ///
    /// - Throws: The prescribed `RepositoryError`, `closed`, or `cancelled`.
    public func entities(
        _ filter: EntityFilter<Entity> = .all,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await entities(policy, where: filter.matches)
    }

    /// Returns the entities that satisfy a condition, in the order in which they were added. Use it for a port without filters:
    ///
    /// ```swift
    /// let comments = InMemoryRepository([Comment(id: 1, postID: 7, body: "Well said.")])
    /// let discussion = try await comments.entities(.cacheFirst) { $0.postID == 7 }
    /// ```
    ///
    /// - Throws: The prescribed `RepositoryError`, `closed`, or `cancelled`.
    public func entities(
        _ policy: ReadPolicy,
        where isIncluded: (Entity) -> Bool = { _ in true }
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try read("The list of \(Entity.self)", policy) { state in state.reading(where: isIncluded) }
    }

    private func read<Value: Sendable>(
        _ request: String,
        _ policy: ReadPolicy,
        _ answer: (InMemoryEntities<Entity>) throws(RepositoryError) -> Reading<Value>
    ) throws(RepositoryError) -> Reading<Value> {
        try RepositoryError.throwIfCancelled(asking: request)
        return try state.withLock { state throws(RepositoryError) in
            state.policies.append(policy)
            try state.throwFailure(\.readFailures, request)
            return try answer(state)
        }
    }

    // MARK: Writing

    /// Creates an entity from a draft.
    ///
    /// - Throws: The prescribed `RepositoryError`, `closed`, or `cancelled`; `refused` if the repository cannot create entities
    ///   from such drafts. In these cases, nothing is created.
    public func create(_ draft: some Encodable) async throws(RepositoryError) -> Reading<Entity> {
        try create { number throws(RepositoryError) in
            if let entity = creation(draft, number) { return entity }
            let type = type(of: draft)
            throw RepositoryError(
                .refused,
                request: Self.newName,
                explanation: """
                    cannot be made from a \(type): create the repository with `InMemoryRepository { (draft: \(type), number) in … }`
                    """
            )
        }
    }

    /// Creates an entity with a new number, which is greater than all identifiers that are whole numbers. Use it for a port
    /// whose drafts are not `Encodable`:
    ///
    /// ```swift
    /// let comments = InMemoryRepository<Comment>()
    /// let reply = try await comments.create { number in Comment(id: number, postID: 7, body: "Well said.") }
    /// ```
    ///
    /// - Throws: The prescribed `RepositoryError`, `closed`, or `cancelled`. In these cases, nothing is created.
    public func create(_ make: (_ number: Int) -> Entity) async throws(RepositoryError) -> Reading<Entity> {
        try create { number throws(RepositoryError) in make(number) }
    }

    private func create(
        numbering make: (Int) throws(RepositoryError) -> Entity
    ) throws(RepositoryError) -> Reading<Entity> {
        try RepositoryError.throwIfCancelled(asking: Self.newName)
        return try state.withLock { state throws(RepositoryError) in
            try state.throwFailure(\.writeFailures, Self.newName)
            return state.write(try make(state.nextNumber()))
        }
    }

    /// Updates an entity.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - change: Changes the entity. It must not change the identifier or use the repository.
    /// - Returns: The updated entity.
    /// - Throws: A `WriteError`: `conflict` after ``conflictOnNextEdit(with:)``; `failed` with the prescribed error, or with
    ///   `notFound`, `closed`, or `cancelled`; `failed` with `refused` if the identifier changes. In these cases, nothing is
    ///   updated.
    @discardableResult
    public func update(
        _ id: Entity.ID,
        _ change: @Sendable (inout Entity) -> Void
    ) async throws(WriteError<Entity>) -> Reading<Entity> {
        try edit(id) { state, request throws(WriteError<Entity>) in
            guard var entity = state[id] else { throw .failed(Self.absence(request)) }
            change(&entity)
            guard entity.id == id else {
                let explanation = "was not changed: an update cannot change the identifier"
                throw .failed(RepositoryError(.refused, request: request, explanation: explanation))
            }
            try state.throwConflict(of: id, mine: entity, request)
            return state.write(entity)
        }
    }

    /// Deletes an entity. If it does not exist, nothing happens.
    ///
    /// - Throws: A `WriteError`: `conflict` after ``conflictOnNextEdit(with:)``; `failed` with the prescribed error, or with
    ///   `closed` or `cancelled`. In these cases, nothing is deleted.
    public func delete(_ id: Entity.ID) async throws(WriteError<Entity>) {
        try edit(id) { state, request throws(WriteError<Entity>) in
            try state.throwConflict(of: id, mine: nil, request)
            state.delete(id)
        }
    }

    /// Deletes an entity if a condition holds for it.
    ///
    /// - Throws: A `WriteError`: `conflict` if the condition does not hold, or after ``conflictOnNextEdit(with:)``; `failed` with
    ///   the prescribed error, or with `notFound`, `closed` or `cancelled`. In these cases, nothing is deleted.
    public func delete(
        _ id: Entity.ID,
        if condition: @Sendable (Entity) -> Bool
    ) async throws(WriteError<Entity>) {
        try edit(id) { state, request throws(WriteError<Entity>) in
            guard let entity = state[id] else { throw .failed(Self.absence(request)) }
            guard condition(entity) else {
                let explanation = "was not deleted: it is not the version that may be deleted"
                let refusal = RepositoryError(.conflict, request: request, explanation: explanation)
                throw .conflict(WriteConflict(mine: nil, theirs: entity, refusal: refusal))
            }
            try state.throwConflict(of: id, mine: nil, request)
            state.delete(id)
        }
    }

    /// Updates an entity. Use it for a port that throws a `RepositoryError`, in a module that does not import
    /// `InwardRepositories`:
    ///
    /// ```swift
    /// let comments = InMemoryRepository([Comment(id: 1, postID: 7, body: "Well said.")])
    /// try await comments.update(1, throwing: RepositoryError.self) { $0.body = "Very well said." }
    /// ```
    ///
    /// - Throws: The `RepositoryError` of the `WriteError` that ``update(_:_:)`` throws.
    @discardableResult
    public func update(
        _ id: Entity.ID,
        throwing type: RepositoryError.Type,
        _ change: @Sendable (inout Entity) -> Void
    ) async throws(RepositoryError) -> Reading<Entity> {
        do throws(WriteError<Entity>) {
            return try await update(id, change)
        } catch {
            throw error.repositoryError
        }
    }

    /// Deletes an entity. Use it for a port that throws a `RepositoryError`, in a module that does not import
    /// `InwardRepositories`.
    ///
    /// - Throws: The `RepositoryError` of the `WriteError` that ``delete(_:)`` throws.
    public func delete(_ id: Entity.ID, throwing type: RepositoryError.Type) async throws(RepositoryError) {
        do throws(WriteError<Entity>) {
            try await delete(id)
        } catch {
            throw error.repositoryError
        }
    }

    /// Deletes an entity if a condition holds for it. Use it for a port that throws a `RepositoryError`, in a module that does not
    /// import `InwardRepositories`.
    ///
    /// - Throws: The `RepositoryError` of the `WriteError` that ``delete(_:if:)`` throws.
    public func delete(
        _ id: Entity.ID,
        throwing type: RepositoryError.Type,
        if condition: @Sendable (Entity) -> Bool
    ) async throws(RepositoryError) {
        do throws(WriteError<Entity>) {
            try await delete(id, if: condition)
        } catch {
            throw error.repositoryError
        }
    }

    private func edit<Answer: Sendable>(
        _ id: Entity.ID,
        _ change: (inout InMemoryEntities<Entity>, String) throws(WriteError<Entity>) -> Answer
    ) throws(WriteError<Entity>) -> Answer {
        let request = Self.name(id)
        return try state.withLock { state throws(WriteError<Entity>) in
            do throws(RepositoryError) {
                try RepositoryError.throwIfCancelled(asking: request)
                try state.throwFailure(\.writeFailures, request)
            } catch {
                throw .failed(error)
            }
            return try change(&state, request)
        }
    }

    /// Closes the repository: all later reads and writes fail with `closed`.
    public func close() async { state.withLock { $0.isClosed = true } }

    private static func name(_ id: Entity.ID) -> String { "\(Entity.self) \(id)" }
    private static var newName: String { "A new \(Entity.self)" }

    private static func absence(_ request: String) -> RepositoryError {
        RepositoryError(.notFound, request: request, explanation: "is not in the in-memory repository")
    }
}

/// The controls for a test: contents, provenance, pending writes and failures.
extension InMemoryRepository {
    /// The entities, in the order in which they were added.
    public var contents: [Entity] { state.withLock(\.all) }

    /// The policies of the reads so far, in order. They include failed reads, but not reads by cancelled tasks.
    public var policies: [ReadPolicy] { state.withLock(\.policies) }

    /// Adds an entity, or replaces the one with its identifier, as if another user had written it.
    public func put(_ entity: Entity) { state.withLock { $0.put(entity) } }

    /// Removes the entity with an identifier, as if another user had deleted it.
    public func remove(_ id: Entity.ID) { state.withLock { $0.remove(id) } }

    /// Sets the provenance of all later readings. Omitted values are reset to their defaults.
    ///
    /// ```swift
    /// let comments = InMemoryRepository([Comment(id: 1, postID: 7, body: "Well said.")])
    /// let failure = RepositoryError(.unavailable, request: "Comments", explanation: "cannot be read now")
    /// comments.setProvenance(origin: .store, age: .seconds(90), isStale: true, fallbackReason: failure)
    /// ```
    ///
    /// - Parameters:
    ///   - origin: The source of the answers.
    ///   - age: The time since the source gave the answers.
    ///   - isStale: Whether the answers are stale.
    ///   - rejected: The damaged records that every list reports as omitted.
    ///   - fallbackReason: The error that made the answers a fallback, or `nil` if they are not a fallback.
    public func setProvenance(
        origin: Origin = .memory,
        age: Duration = .zero,
        isStale: Bool = false,
        rejected: [RejectedRecord] = [],
        fallbackReason: RepositoryError? = nil
    ) {
        state.withLock { state in
            state.provenance = Reading(
                (),
                origin: origin,
                age: age,
                isStale: isStale,
                rejected: rejected,
                fallbackReason: fallbackReason
            )
        }
    }

    /// Shows an entity as pending until ``deliverWrites()``.
    public func showAsPending(_ id: Entity.ID) { state.withLock { $0.showAsPending(id) } }

    /// Shows later writes as pending until ``deliverWrites()``, as a repository with an outbox does.
    public func holdWrites() { state.withLock { $0.holdsWrites = true } }

    /// Shows all writes as delivered, and stops holding new ones.
    public func deliverWrites() { state.withLock { $0.deliver() } }

    /// Makes all calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RepositoryError?) { state.withLock { $0.failure = error } }

    /// Makes the next read throw an error. Call it again for the read after that, and so on.
    public func failNextRead(with error: RepositoryError) { state.withLock { $0.readFailures.append(error) } }

    /// Makes the next creation, update or deletion throw an error. Call it again for the write after that, and so on.
    public func failNextWrite(with error: RepositoryError) { state.withLock { $0.writeFailures.append(error) } }

    /// Makes the next update or deletion throw a conflict, as if another user had changed the entity in the meantime. Later
    /// reads return the other version. Call it again for the update or deletion after that, and so on.
    ///
    /// ```swift
    /// let comments = InMemoryRepository([Comment(id: 1, postID: 7, body: "Original.")])
    /// comments.conflictOnNextEdit(with: Comment(id: 1, postID: 7, body: "Theirs."))
    /// await #expect(throws: WriteError<Comment>.self) { try await comments.update(1) { $0.body = "Mine." } }
    /// ```
    ///
    /// - Parameter theirs: The other version, or `nil` if the entity was deleted in the meantime.
    public func conflictOnNextEdit(with theirs: Entity?) { state.withLock { $0.conflicts.append(theirs) } }
}
