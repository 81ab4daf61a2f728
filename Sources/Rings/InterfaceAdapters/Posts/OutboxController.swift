public import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A controller that lists, retries, discards and delivers the writes of an outbox, and presents the outcome.
///
/// ```swift
/// func retryFirst(_ controller: OutboxController) async throws(FailureViewModel) {
///     guard let write = try await controller.list().rows.first else { return }
///     let (line, isDelivered) = try await controller.retry(write.id)
///     print(isDelivered ? "Done:" : "Not yet:", line)
/// }
/// ```
public struct OutboxController: Sendable {
    private let outbox: any RepositoryOutbox
    private let timeLimit: Duration
    private let timer: TimerService
    private let now: @Sendable () -> Date

    /// Creates a controller for an outbox.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - timeLimit: The maximum time to wait for a delivery.
    ///   - timer: Measures the time limit.
    ///   - now: Returns the current time, from which the ages of writes are computed.
    public init(
        _ outbox: any RepositoryOutbox,
        timeLimit: Duration,
        timer: TimerService,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.outbox = outbox
        self.timeLimit = timeLimit
        self.timer = timer
        self.now = now
    }

    private var presenter: OutboxPresenter { OutboxPresenter(now: now()) }

    /// Lists the pending and refused writes, without contacting the upstream or taking ownership of the outbox.
    ///
    /// - Throws: The failure to show if the store cannot be read.
    public func list() async throws(FailureViewModel) -> OutboxViewModel {
        let presenter = presenter
        do throws(RecordStoreError) {
            return presenter.present(try await outbox.contents(), owner: try await outbox.otherOwner())
        } catch {
            throw presenter.present(error)
        }
    }

    /// Returns one line that names the refused writes; `nil` if there are none.
    ///
    /// - Throws: The failure to show if the store cannot be read.
    public func refusals() async throws(FailureViewModel) -> String? {
        let presenter = presenter
        return presenter.presentRefusals(try await contents(presenter))
    }

    /// Sends a pending or refused write now and waits for its delivery within the time limit.
    ///
    /// - Parameter id: The beginning of the write's identifier, as the list shows it.
    /// - Returns: A line to show, and whether the upstream accepted the write.
    /// - Throws: The failure to show if nothing was sent.
    public func retry(_ id: String) async throws(FailureViewModel) -> (line: String, isDelivered: Bool) {
        let presenter = presenter
        let item = try presenter.item(id, in: try await contents(presenter))
        try await open(presenter)
        let entry: OutboxEntry?
        do throws(RecordStoreError) {
            entry = try await outbox.retry(item.id)
        } catch {
            throw presenter.present(error)
        }
        guard let entry else { throw presenter.presentMissing(item) }
        let outcome = await Deadline(in: timeLimit, on: timer).bound { [outbox] () async throws(RepositoryError) in
            try await outbox.settlement(of: entry)
        }
        do throws(RepositoryError) {
            // A write that is not delivered within the time limit is still pending.
            try (outcome ?? .failure(Self.late)).get()
            return presenter.presentRetried(item, nil)
        } catch {
            return presenter.presentRetried(item, error)
        }
    }

    /// Permanently removes a pending or refused write.
    ///
    /// - Parameter id: The beginning of the write's identifier, as the list shows it.
    /// - Returns: A line that confirms the removal.
    /// - Throws: The failure to show if nothing was removed.
    public func discard(_ id: String) async throws(FailureViewModel) -> String {
        let presenter = presenter
        let item = try presenter.item(id, in: try await contents(presenter))
        try await open(presenter)
        do throws(RecordStoreError) {
            try await outbox.discard(item.id)
        } catch {
            throw presenter.present(error)
        }
        return presenter.presentDiscarded(item)
    }

    /// Waits until all accepted writes are delivered or refused, or until the time limit passes.
    ///
    /// If writes are pending, it opens the outbox. If another process owns the outbox, it waits until that process releases it.
    public func deliver() async -> DeliveryViewModel {
        _ = await Deadline(in: timeLimit, on: timer).bound { [outbox] () async throws(RecordStoreError) in
            if try await outbox.hasPendingRecords() { try await outbox.open() }
            await outbox.drain()
        }
        // Count the pending writes first: one that settles in between is then counted twice rather than missed.
        let waitingCount = await waitingCount()
        let counts = await outbox.outcomes()
        return DeliveryViewModel(
            deliveredCount: counts.delivered,
            refusedCount: counts.refused,
            waitingCount: waitingCount,
            owner: (try? await outbox.otherOwner()) ?? nil
        )
    }

    /// The number of pending writes in the store or, if it cannot be read, those that this process knows of.
    private func waitingCount() async -> Int {
        (try? await outbox.contents().pending.count) ?? outbox.pending.count
    }

    private func contents(_ presenter: OutboxPresenter) async throws(FailureViewModel) -> OutboxContents {
        do throws(RecordStoreError) {
            return try await outbox.contents()
        } catch {
            throw presenter.present(error)
        }
    }

    /// Opens the outbox without delivering, so that no write is sent just before it is discarded.
    private func open(_ presenter: OutboxPresenter) async throws(FailureViewModel) {
        let owner: String?
        do throws(RecordStoreError) {
            owner = try await outbox.openUnlessOwned(delivering: false)
        } catch {
            throw presenter.present(error)
        }
        if let owner { throw presenter.presentOwner(owner) }
    }

    private static var late: RepositoryError {
        RepositoryError(.unavailable, request: "The write", explanation: "was not delivered in time")
    }
}

/// The view model of an outbox's deliveries, including writes from earlier runs.
///
/// ```swift
/// func isDelivered(_ controller: OutboxController) async -> Bool {
///     let delivery = await controller.deliver()
///     print(delivery.line)  // Delivered 2, refused 0; 1 pending until the next start.
///     return delivery.waitingCount == 0
/// }
/// ```
public struct DeliveryViewModel: Hashable, Sendable {
    /// The number of writes delivered since the outbox was opened.
    public let deliveredCount: Int
    /// The number of writes refused since the outbox was opened.
    public let refusedCount: Int
    /// The number of pending writes. They are delivered when the program starts again, or by the process that owns the outbox.
    public let waitingCount: Int
    /// The other process that owns the outbox and delivers its writes; `nil` if there is none.
    public let owner: String?

    init(deliveredCount: Int, refusedCount: Int, waitingCount: Int, owner: String?) {
        self.deliveredCount = deliveredCount
        self.refusedCount = refusedCount
        self.waitingCount = waitingCount
        self.owner = owner
    }

    /// The counts in one sentence.
    public var line: String {
        let end = owner.map { "to be delivered by their owner, \($0)" } ?? "pending until the next start"
        return "Delivered \(deliveredCount), refused \(refusedCount); \(waitingCount) \(end)."
    }
}
