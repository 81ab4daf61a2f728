public import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Lists, retries, discards and delivers the writes of an outbox, and presents the outcome.
///
///     let outbox = OutboxController(outbox, timeLimit: .seconds(30), timer: timer)
///     print(try await outbox.list().rows)
///     let (line, isDelivered) = try await outbox.retry("3f9a")
public struct OutboxController: Sendable {
    private let outbox: Outbox
    private let timeLimit: Duration
    private let timer: TimerService
    private let now: @Sendable () -> Date

    /// Creates a controller of an outbox.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - timeLimit: How long to wait for a delivery.
    ///   - timer: Measures that time.
    ///   - now: Gives the time by which ages are told.
    public init(
        _ outbox: Outbox,
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

    /// Lists the pending and the refused writes. It does not ask the upstream, and leaves the outbox with its owner.
    ///
    /// - Throws: what to show if the store cannot be read.
    public func list() async throws(FailureViewModel) -> OutboxViewModel {
        let presenter = presenter
        do throws(RecordStoreError) {
            return presenter.present(try await outbox.contents(), owner: try await outbox.otherOwner())
        } catch {
            throw presenter.present(error)
        }
    }

    /// Names the refused writes in one line; `nil` if no refused write is kept.
    ///
    /// - Throws: what to show if the store cannot be read.
    public func refusals() async throws(FailureViewModel) -> String? {
        let presenter = presenter
        return presenter.presentRefusals(try await contents(presenter))
    }

    /// Sends a pending or a refused write now, and waits for its delivery within the time limit.
    ///
    /// - Parameter id: The beginning of the identifier that the list shows.
    /// - Returns: one line, and whether the upstream accepted the write.
    /// - Throws: what to show if nothing was sent.
    public func retry(_ id: String) async throws(FailureViewModel) -> (line: String, isDelivered: Bool) {
        let presenter = presenter
        let item = try presenter.item(id, in: try await contents(presenter))
        try await open(delivering: true, presenter)
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

    /// Removes a pending or a refused write for good.
    ///
    /// - Parameter id: The beginning of the identifier that the list shows.
    /// - Returns: one line that says so.
    /// - Throws: what to show if nothing was removed.
    public func discard(_ id: String) async throws(FailureViewModel) -> String {
        let presenter = presenter
        let item = try presenter.item(id, in: try await contents(presenter))
        // Without delivering, so that the write is not sent at the last moment.
        try await open(delivering: false, presenter)
        do throws(RecordStoreError) {
            try await outbox.discard(item.id)
        } catch {
            throw presenter.present(error)
        }
        return presenter.presentDiscarded(item)
    }

    /// Waits until the accepted writes are delivered or refused, or until the time limit has passed.
    ///
    /// It opens the outbox if something is pending, and waits its turn if another process owns it.
    public func deliver() async -> DeliveryViewModel {
        _ = await Deadline(in: timeLimit, on: timer).bound { [outbox] () async throws(RecordStoreError) in
            if try await outbox.hasPendingRecords() { try await outbox.open() }
            await outbox.drain()
        }
        guard let owner = try? await outbox.otherOwner() else { return DeliveryViewModel(outbox) }
        let waitingCount = try? await outbox.contents().pending.count
        return DeliveryViewModel(outbox, waitingCount: waitingCount, owner: owner)
    }

    private func contents(_ presenter: OutboxPresenter) async throws(FailureViewModel) -> OutboxContents {
        do throws(RecordStoreError) {
            return try await outbox.contents()
        } catch {
            throw presenter.present(error)
        }
    }

    private func open(delivering: Bool, _ presenter: OutboxPresenter) async throws(FailureViewModel) {
        let owner: String?
        do throws(RecordStoreError) {
            owner = try await outbox.openUnlessOwned(delivering: delivering)
        } catch {
            throw presenter.present(error)
        }
        if let owner { throw presenter.presentOwner(owner) }
    }

    private static var late: RepositoryError {
        RepositoryError(.unavailable, request: "The write", explanation: "was not delivered in time")
    }
}

/// What a view shows of the writes that an outbox was given, and of those that it was left by an earlier one.
public struct DeliveryViewModel: Hashable, Sendable {
    /// How many the upstream has done, since the outbox was opened.
    public let deliveredCount: Int
    /// How many the upstream has refused, since then.
    public let refusedCount: Int
    /// How many are pending, and will be delivered when the program is started again, or by their owner.
    public let waitingCount: Int
    /// Which other process owns the outbox, and delivers what is pending; `nil` if none does.
    public let owner: String?

    /// Takes the numbers of an outbox as they are now.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - waitingCount: How many writes are pending, if another process owns the outbox.
    ///   - owner: That process; `nil` if there is none.
    public init(_ outbox: Outbox, waitingCount: Int? = nil, owner: String? = nil) {
        // First, so that none is missing that is settled meanwhile.
        self.waitingCount = waitingCount ?? outbox.status.pendingCount
        let counts = outbox.counts
        deliveredCount = counts.delivered
        refusedCount = counts.refused
        self.owner = owner
    }

    /// The numbers as a sentence.
    public var line: String {
        let end = owner.map { "are delivered by their owner, \($0)" } ?? "wait for the next start"
        return "Delivered \(deliveredCount), refused \(refusedCount); \(waitingCount) \(end)."
    }
}
