public import InwardCore
import Synchronization

/// A unit of work for tests of use cases. It commits the changes that an ``InMemoryPostRepository`` or an
/// ``InMemoryUserRepository`` prepared.
///
/// ```swift
/// import InwardCore
///
/// let unitOfWork = InMemoryUnitOfWork()
/// let posts = InMemoryPostRepository()
/// let draft = try PostDraft(authorID: User.ID(1), title: "Notes", body: "First draft")
/// try await unitOfWork.commit([posts.prepareToPublish(draft)])
/// print(unitOfWork.commits)  // [["the publication of “Notes”"]]
/// ```
public final class InMemoryUnitOfWork: UnitOfWork {
    private struct State {
        var failures: [UnitOfWorkError] = []
        var commits: [[String]] = []
    }

    private let state = Mutex(State())

    /// Creates a unit of work that has committed nothing.
    public init() {}

    /// The descriptions of the changes of each commit so far, in order.
    public var commits: [[String]] { state.withLock(\.commits) }

    /// Makes the next commit throw an error. Call it again for the commit after that, and so on.
    public func failNextCommit(with error: UnitOfWorkError) { state.withLock { $0.failures.append(error) } }

    /// Commits changes in order, all of them or none.
    ///
    /// - Throws: The prescribed `UnitOfWorkError`, or `foreign` if a change was not prepared by an in-memory repository.
    public func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        try state.withLock { state throws(UnitOfWorkError) in
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            let own = changes.compactMap { $0 as? InMemoryChange }
            guard own.count == changes.count else {
                throw UnitOfWorkError(
                    .foreign,
                    explanation: "Nothing was changed: a change belongs to another unit of work."
                )
            }
            for change in own { change.apply() }
            state.commits.append(own.map(\.description))
        }
    }
}

/// A change of an in-memory repository. Applying it cannot fail.
struct InMemoryChange: PreparedChange {
    let description: String
    let apply: @Sendable () -> Void

    init(_ description: String, _ apply: @escaping @Sendable () -> Void) {
        self.description = description
        self.apply = apply
    }
}
