import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An instance of a service with a session of the user.
struct SharedInstance {
    let outbox: SharedOutbox
    let partition: OutboxPartition
    let remarks: Repository<Remark>
    let peers: RepositoryPeers
    /// The repository whose handler delivers the writes if no session is open.
    let deliverer: Repository<Remark>
}

/// Tests with repositories of one user on two instances of a service, which write through a shared outbox.
protocol SharedRepositorySuite: Sendable {
    var stage: SharedOutboxStage { get }
    var source: VersionedSource { get }
}

extension SharedRepositorySuite {
    func place(_ peers: RepositoryPeers?) -> RepositoryStore {
        RepositoryStore(stage.store, partition: ["kept"], peers: peers, now: { SharedOutboxStage.time }) {
            Issue.record($0)
        }
    }

    func instance(
        _ number: UInt64,
        _ editing: Editing<Remark>,
        keepsDraftIDs: Bool = false,
        over store: (any SharedRecordStore)? = nil
    ) throws -> SharedInstance {
        let peers = RepositoryPeers(sharing: stage.store, generator: SplitMix64(seed: number))
        let deliverer = try Repository.versioned(
            source,
            editing,
            keepsDraftIDs: keepsDraftIDs,
            store: place(peers),
            timer: stage.timer
        )
        let outbox = try stage.outbox(source, store: store, handler: deliverer.handler, keySeed: number)
        let partition = outbox.partition(SharedOutboxStage.partition)
        let remarks = try Repository.versioned(
            source,
            editing,
            keepsDraftIDs: keepsDraftIDs,
            store: place(peers),
            outbox: partition,
            timer: stage.timer
        )
        return SharedInstance(
            outbox: outbox,
            partition: partition,
            remarks: remarks,
            peers: peers,
            deliverer: deliverer
        )
    }

    /// Runs work on two instances. Those that run deliver, and follow what others do. Those that join have a session of the user
    /// from the beginning. The first one may have a store of its own over the shared one.
    func run(
        running: [Int] = [0, 1],
        joining: [Int] = [0, 1],
        _ editing: Editing<Remark> = Editing(.patch),
        keepsDraftIDs: Bool = false,
        over store: (any SharedRecordStore)? = nil,
        _ body: @escaping @Sendable (SharedInstance, SharedInstance) async throws -> Void
    ) async throws {
        let instances = [
            try instance(1, editing, keepsDraftIDs: keepsDraftIDs, over: store),
            try instance(2, editing, keepsDraftIDs: keepsDraftIDs),
        ]
        try await stage.scheduler.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in running {
                    group.addTask { await instances[number].outbox.run() }
                    group.addTask { await instances[number].peers.followAnnouncements() }
                }
                for number in joining { try await join(instances[number]) }
                try await body(instances[0], instances[1])
                group.cancelAll()
            }
        }
        withExtendedLifetime(instances) {}
    }

    func join(_ instance: SharedInstance) async throws {
        _ = try await instance.partition.join(handlers: [instance.remarks.handler])
        try await instance.partition.showPending()
    }

    func text(_ id: Int, _ instance: SharedInstance) async throws -> String? {
        do {
            return try await instance.remarks.entity(id).value.text
        } catch {
            guard error.reason == .notFound else { throw error }
            return nil
        }
    }
}
