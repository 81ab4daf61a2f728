public import InwardCore
import InwardRepositories

/// A unit of work with two repositories, as ``UnitOfWorkConformance`` uses them.
///
/// A repository has numbers by their names. Whoever checks a unit of work of his own says how a change of one is prepared, and how
/// one is read.
public struct UnitOfWorkStage: Sendable {
    /// Which of the repositories is meant.
    public enum Repository: Hashable, Sendable, CaseIterable {
        /// The one.
        case first
        /// The other.
        case second
    }

    let unitOfWork: any UnitOfWork
    let prepare: @Sendable (Repository, String, Int?) async throws -> any PreparedChange
    let read: @Sendable (Repository, String) async throws -> Int?
    let close: @Sendable () async -> Void

    /// Makes a stage.
    ///
    /// - Parameters:
    ///   - unitOfWork: What is checked.
    ///   - prepare: Prepares the change of a repository by which the number of a name becomes another, or is removed if it is
    ///     `nil`.
    ///   - read: Gives what a reader of a repository finds: the number of a name; `nil` if there is none.
    ///   - close: Ends all of it, so that it can be opened again. What it has made durable stays.
    public init(
        _ unitOfWork: any UnitOfWork,
        prepare: @escaping @Sendable (Repository, String, Int?) async throws -> any PreparedChange,
        read: @escaping @Sendable (Repository, String) async throws -> Int?,
        close: @escaping @Sendable () async -> Void = {}
    ) {
        self.unitOfWork = unitOfWork
        self.prepare = prepare
        self.read = read
        self.close = close
    }

    /// Prepares changes and commits them as one.
    func commit(_ changes: [(Repository, String, Int?)]) async throws {
        var prepared: [any PreparedChange] = []
        for (repository, name, number) in changes { prepared.append(try await prepare(repository, name, number)) }
        try await unitOfWork.commit(prepared)
    }

    /// What the readers of both repositories find of a name.
    func numbers(_ name: String) async throws -> [Int?] {
        [try await read(.first, name), try await read(.second, name)]
    }
}
