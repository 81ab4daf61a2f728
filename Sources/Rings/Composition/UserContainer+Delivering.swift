import Foundation
public import InterfaceAdapters
import InwardCore
public import InwardRepositories
public import InwardScopes

extension UserContainer {
    /// Waits until this user's accepted writes are delivered to the upstream or refused by it, up to a time limit.
    ///
    /// It opens the user's outbox if something is pending, and waits its turn if another process owns it. Writes of this session are
    /// delivered anyway, as long as it is open. Call this before you close it.
    ///
    /// - Parameter limit: How long to wait; `nil` for as long as the configuration says that an interaction may take.
    /// - Returns: what to show; `nil` if nothing of this user outlives the process, so that nothing is accepted before it is done.
    /// - Throws: a `ScopeError` if the session is closed.
    public func deliver(within limit: Duration? = nil) async throws(ScopeError) -> DeliveryViewModel? {
        let app = try app.scope.objects()
        let delivery = try await scope.run { user async -> DeliveryViewModel? in
            guard let outbox = user.outbox?.outbox else { return nil }
            _ = await Deadline(in: limit ?? app.configuration.timeLimit, on: app.timer).bound {
                () async throws(RecordStoreError) in
                if try await outbox.hasPendingRecords() { try await outbox.open() }
                await outbox.drain()
            }
            guard let owner = try? await outbox.otherOwner() else { return DeliveryViewModel(outbox) }
            let waitingCount = try? await outbox.contents().pending.count
            return DeliveryViewModel(outbox, waitingCount: waitingCount, owner: owner)
        }
        return delivery.get()
    }

    /// Lists the user's pending and refused writes. It does not ask the upstream, and leaves the outbox with its owner.
    ///
    /// - Returns: what to show; `nil` if nothing of this user outlives the process.
    /// - Throws: a `ScopeError` if the session is closed, or a `FailureViewModel` if the store cannot be read.
    public func outbox() async throws -> OutboxViewModel? {
        try await withOutbox { outbox, presenter in
            presenter.present(try await outbox.contents(), owner: try await outbox.otherOwner())
        }
    }

    /// Says which refused writes of this user are kept.
    ///
    /// - Returns: one line; `nil` if no refused write is kept.
    /// - Throws: a `ScopeError` if the session is closed, or a `FailureViewModel` if the store cannot be read.
    public func refusals() async throws -> String? {
        try await withOutbox { outbox, presenter in presenter.presentRefusals(try await outbox.contents()) } ?? nil
    }

    /// Sends a pending or a refused write now, and waits for a while until that is done.
    ///
    /// - Parameter id: The beginning of what the list names it by.
    /// - Returns: one line, and whether the upstream took the write; `nil` if nothing of this user outlives the process.
    /// - Throws: a `ScopeError` if the session is closed, or a `FailureViewModel` that says why nothing was sent.
    public func retryWrite(_ id: String) async throws -> (line: String, isDelivered: Bool)? {
        let app = try app.scope.objects()
        return try await withOutbox { outbox, presenter in
            let item = try presenter.item(id, in: try await outbox.contents())
            if let owner = try await outbox.openUnlessOwned() { throw presenter.presentOwner(owner) }
            guard let entry = try await outbox.retry(item.id) else { throw presenter.presentMissing(item) }
            let outcome = await Deadline(in: app.configuration.timeLimit, on: app.timer).bound {
                () async throws(RepositoryError) in try await outbox.settlement(of: entry)
            }
            do throws(RepositoryError) {
                // Where the time is up it is pending.
                try (outcome ?? .failure(Self.late)).get()
                return presenter.presentRetried(item, nil)
            } catch {
                return presenter.presentRetried(item, error)
            }
        }
    }

    /// Removes a pending or a refused write for good.
    ///
    /// - Parameter id: The beginning of what the list names it by.
    /// - Returns: one line; `nil` if nothing of this user outlives the process.
    /// - Throws: a `ScopeError` if the session is closed, or a `FailureViewModel` that says why nothing was removed.
    public func discardWrite(_ id: String) async throws -> String? {
        try await withOutbox { outbox, presenter in
            let item = try presenter.item(id, in: try await outbox.contents())
            // It must not be sent at the last moment.
            if let owner = try await outbox.openUnlessOwned(delivering: false) { throw presenter.presentOwner(owner) }
            try await outbox.discard(item.id)
            return presenter.presentDiscarded(item)
        }
    }

    private static var late: RepositoryError {
        RepositoryError(.unavailable, request: "The write", explanation: "was not delivered in time")
    }

    private func withOutbox<Value: Sendable>(
        _ body: @escaping @Sendable (Outbox, OutboxPresenter) async throws -> Value
    ) async throws -> Value? {
        let result = try await scope.run { user async throws -> Value? in
            guard let outbox = user.outbox?.outbox else { return nil }
            let presenter = OutboxPresenter(now: Date())
            do {
                return try await body(outbox, presenter)
            } catch let error as RecordStoreError {
                throw presenter.present(error)
            }
        }
        return try result.get()
    }
}
