import Foundation
import Infrastructure
import InterfaceAdapters
import InwardRepositories
import InwardScopes

/// The outboxes of all users for the upstream of the service, for the command line.
///
/// ```swift
/// let app = try await FeedApp(settings, pendingWrites: .show)
/// print(try await OperatorOutbox(app).list())
/// ```
public struct OperatorOutbox: Sendable {
    private let app: FeedApp

    /// Creates a view of the outboxes of an app with a store.
    public init(_ app: FeedApp) {
        self.app = app
    }

    /// Returns a table of the writes of each user, and the names of other upstreams that have writes in the store.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot be read.
    public func list() async throws -> String {
        let presenter = OutboxPresenter(now: Date())
        let tables = try await app.scope.outboxes().map { outbox in
            let table = TextRenderer().render(presenter.present(outbox.contents).document)
            return "\(outbox.title)\n\n\(table)"
        }
        let start =
            tables.isEmpty
            ? "No writes to \(app.upstreamTitle) are pending or refused.\n" : "Writes to \(app.upstreamTitle):\n"
        let end = try await otherUpstreams()
        return ([start] + tables + end).joined(separator: "\n")
    }

    /// Returns a sentence about the other upstreams, if there are any.
    private func otherUpstreams() async throws -> [String] {
        let names = try await app.scope.unknownUpstreams().map { name in
            name.hasPrefix("sample:") ? "the built-in sample" : name
        }
        guard !names.isEmpty else { return [] }
        return ["The store also has writes to other upstreams, see --upstream: \(names.joined(separator: ", ")).\n"]
    }

    /// Makes a write due now, so that a service delivers it. A refused post and its refused changes become due together.
    ///
    /// - Parameter id: The beginning of the identifier.
    /// - Returns: A line that says what happened.
    /// - Throws: A `FailureViewModel` if no write, or more than one, has such an identifier; a `RecordStoreError`.
    public func retry(_ id: String) async throws -> String {
        let (outbox, item) = try await find(id)
        guard try await app.scope.retryWrite(item.id, in: outbox) else { throw missing(id) }
        return "The write is due now. A running service delivers it.\n"
    }

    /// Removes a write permanently.
    ///
    /// - Parameter id: The beginning of the identifier.
    /// - Returns: A line that says what happened.
    /// - Throws: A `FailureViewModel` if no write, or more than one, has such an identifier; a `RecordStoreError`.
    public func discard(_ id: String) async throws -> String {
        let (outbox, item) = try await find(id)
        guard try await app.scope.discardWrite(item.id, in: outbox) else { throw missing(id) }
        return OutboxPresenter(now: Date()).presentDiscarded(item) + "\n"
    }

    private func find(_ id: String) async throws -> (UserOutbox, OutboxItem) {
        guard id.count >= 4 else {
            throw FailureViewModel("“\(id)” is too short", advice: "Give at least 4 characters of the identifier.")
        }
        let outboxes = try await app.scope.outboxes()
        let found = outboxes.flatMap { outbox in
            outbox.items.filter { $0.id.hasPrefix(id) }.map { (outbox, $0) }
        }
        guard let first = found.first else { throw missing(id) }
        guard found.count == 1 else {
            throw FailureViewModel(
                "The identifiers of \(found.count) writes begin with “\(id)”",
                advice: "Give more of it."
            )
        }
        return first
    }

    private func missing(_ id: String) -> FailureViewModel {
        FailureViewModel(
            "No write to \(app.upstreamTitle) has an identifier that begins with “\(id)”",
            advice: "It may have been delivered or retried. List the writes."
        )
    }
}
