public import InwardCore
public import InwardRepositories
import Synchronization

/// An in-memory repository for tests of use cases, with the reads and writes of a `Repository`.
///
///     let comments = InMemoryRepository([first, second]) { (draft: CommentDraft, number) in
///         Comment(id: number, body: draft.body)
///     }
///     let created = try await comments.create(CommentDraft(body: "Well said."))
///     comments.failNextRead(with: RepositoryError(.unavailable, request: "Comments", explanation: "cannot be read"))
///
/// Where a `Repository` conforms to a port by an extension, this one conforms by the same:
///
///     protocol CommentRepository: Sendable {
///         func entity(_ id: Comment.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Comment>
///     }
///     extension Repository: CommentRepository where Entity == Comment {}
///     extension InMemoryRepository: CommentRepository where Entity == Comment {}
///
/// All reads are answered from memory, whatever their policy. Writes take effect immediately. After ``holdWrites()``, they are shown
/// as pending until ``deliverWrites()``.
public final class InMemoryRepository<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    private let creation: @Sendable (any Encodable, Int) -> Entity?
    private let state: Mutex<InMemoryEntities<Entity>>

    /// Creates a repository in which no drafts can be created.
    ///
    /// - Parameters:
    ///   - entities: The entities, in order, even if identifiers repeat.
    ///   - rejected: The records to report as left out of every list.
    ///   - failure: The error that calls throw, or `nil` to answer.
    public init(_ entities: [Entity] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        creation = { _, _ in nil }
        state = Mutex(InMemoryEntities(entities))
        setProvenance(rejected: rejected)
        fail(with: failure)
    }

    /// Creates a repository in which drafts of a type can be created.
    ///
    /// - Parameters:
    ///   - entities: The entities, in order, even if identifiers repeat.
    ///   - creation: Returns the entity of a draft. It is given a number that is greater than every identifier that is a whole
    ///     number. It must not use the repository.
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

    /// Returns the entities that satisfy a condition, in the order in which they were added. Use it for a port that has no filters:
    ///
    ///     func comments(on postID: Int) async throws(RepositoryError) -> Reading<[Comment]> {
    ///         try await entities(.cacheFirst) { $0.postID == postID }
    ///     }
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
    /// - Throws: The prescribed `RepositoryError`, `closed`, or `cancelled`; `refused` if the repository cannot create such drafts.
    ///   In these cases, nothing is created.
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

    /// Creates an entity with a number that is greater than every identifier that is a whole number. Use it for a port whose drafts
    /// are not encodable:
    ///
    ///     func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
    ///         try await create { draft.published(as: $0) }
    ///     }
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
    ///   - change: Changes the entity, but not its identifier. It must not use the repository.
    /// - Returns: The updated entity.
    /// - Throws: A `WriteError`: `conflict` after ``conflictOnNextEdit(with:)``; `failed` with the prescribed error, or with
    ///   `notFound`, `closed`, or `cancelled`; `failed` with `refused` if the identifier changes. In these cases, nothing is updated.
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

    /// Deletes an entity. An entity that does not exist is deleted already.
    ///
    /// - Throws: A `WriteError`: `conflict` after ``conflictOnNextEdit(with:)``; `failed` with the prescribed error, or with `closed`
    ///   or `cancelled`. In these cases, nothing is deleted.
    public func delete(_ id: Entity.ID) async throws(WriteError<Entity>) {
        try edit(id) { state, request throws(WriteError<Entity>) in
            try state.throwConflict(of: id, mine: nil, request)
            state.delete(id)
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
        RepositoryError(.notFound, request: request, explanation: "is not in this memory")
    }
}

/// What a test sees, and how it tells the repository what to do.
extension InMemoryRepository {
    /// The entities, in the order in which they were added.
    public var contents: [Entity] { state.withLock(\.all) }

    /// The policies of the reads so far, in order, including those of reads that failed.
    public var policies: [ReadPolicy] { state.withLock(\.policies) }

    /// Adds an entity, or replaces the one with its identifier, as if somebody else had written it.
    public func put(_ entity: Entity) { state.withLock { $0.put(entity) } }

    /// Removes the entity with an identifier, as if somebody else had deleted it.
    public func remove(_ id: Entity.ID) { state.withLock { $0.remove(id) } }

    /// Sets the provenance of all later readings. What is left out returns to its default.
    ///
    ///     comments.setProvenance(origin: .store, age: .seconds(90), isStale: true, fallbackReason: failure)
    ///
    /// - Parameters:
    ///   - origin: Where the answers come from.
    ///   - age: The time since the source gave the answers.
    ///   - isStale: Whether the answers are older than fresh ones.
    ///   - rejected: The records to report as left out of every list.
    ///   - fallbackReason: The error for which the answers are a fallback, or `nil` if they are not.
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

    /// Shows what is written from now on as pending, as a repository with an outbox does, until ``deliverWrites()``.
    public func holdWrites() { state.withLock { $0.holdsWrites = true } }

    /// Shows nothing as pending any more, neither what was written nor what will be.
    public func deliverWrites() { state.withLock { $0.deliver() } }

    /// Makes all calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RepositoryError?) { state.withLock { $0.failure = error } }

    /// Makes the next read throw an error. Each further call is for the read after that.
    public func failNextRead(with error: RepositoryError) { state.withLock { $0.readFailures.append(error) } }

    /// Makes the next creation, update or deletion throw an error. Each further call is for the write after that.
    public func failNextWrite(with error: RepositoryError) { state.withLock { $0.writeFailures.append(error) } }

    /// Makes the next update or deletion throw a conflict, as if somebody else had changed the entity in the meantime. Later reads
    /// return the other version. Each further call is for the update or deletion after that.
    ///
    ///     comments.conflictOnNextEdit(with: Comment(id: 7, body: "Theirs."))
    ///     await #expect(throws: CorrectCommentError.changedMeanwhile) { try await correctComment(7, "Mine.") }
    ///
    /// - Parameter theirs: The other version, or `nil` if the entity was deleted in the meantime.
    public func conflictOnNextEdit(with theirs: Entity?) { state.withLock { $0.conflicts.append(theirs) } }
}
