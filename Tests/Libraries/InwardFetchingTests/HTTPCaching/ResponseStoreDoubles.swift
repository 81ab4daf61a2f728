import InwardCore
import InwardFetching
import InwardTesting
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Promise<Void> {
    func wait() async { _ = await value() }
}

/// A store that answers when it is released.
final class HeldResponseStore: ResponseStore {
    enum Held {
        case searches
        case commits
    }

    let isSearching = Promise<Void>()
    let isCommitting = Promise<Void>()
    let isReleased = Promise<Void>()
    private let kept: [KeptResponse]
    private let held: Held
    private let failingCommit: Int?
    private let committed = Mutex<[[ResponseStoreChange]]>([])

    /// - Parameters:
    ///   - kept: What each search finds.
    ///   - held: What waits until it is released.
    ///   - failingCommit: The place of a commit that fails.
    init(_ kept: [KeptResponse] = [], holding held: Held = .searches, failingCommit: Int? = nil) {
        self.failingCommit = failingCommit
        self.kept = kept
        self.held = held
    }

    var commits: [[ResponseStoreChange]] { committed.withLock(\.self) }

    func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse] {
        isSearching.fulfill(())
        if held == .searches { await isReleased.wait() }
        return kept
    }

    func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])] { [] }

    func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError) {
        isCommitting.fulfill(())
        if held == .commits { await isReleased.wait() }
        let place = committed.withLock { commits in
            commits.append(changes)
            return commits.count - 1
        }
        if place == failingCommit { throw ResponseStoreError(explanation: "The store failed.") }
    }
}

/// A store that takes its time, and can fail.
final class SlowResponseStore: ResponseStore {
    private let base: InMemoryResponseStore
    private let timer: TimerService
    private let delay: @Sendable () -> Duration
    private let searches = Mutex(0)
    private let isFailing = Mutex<@Sendable () -> Bool>({ false })

    init(_ base: InMemoryResponseStore, on timer: TimerService, delay: @escaping @Sendable () -> Duration) {
        self.base = base
        self.timer = timer
        self.delay = delay
    }

    var searchCount: Int { searches.withLock(\.self) }

    /// Returns whether the next call fails.
    var failures: @Sendable () -> Bool {
        get { isFailing.withLock(\.self) }
        set { isFailing.withLock { $0 = newValue } }
    }

    private func wait() async throws(ResponseStoreError) {
        try? await timer.sleep(for: delay())
        if failures() { throw ResponseStoreError(explanation: "The store failed.") }
    }

    func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse] {
        searches.withLock { $0 += 1 }
        let responses = try await base.responses(for: url)
        try await wait()
        return responses
    }

    func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])] {
        try await wait()
        return try await base.metadata(after: url, limit: 1)
    }

    func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError) {
        try await wait()
        try await base.commit(changes)
        try await wait()
    }
}

/// Caches over one store, each as after a restart of the program.
struct RestartedCaches: Sendable {
    let clock = ManualClock()
    let store = InMemoryResponseStore()

    func stage(
        _ policy: CachePolicy = .shared,
        byteLimit: Int = 1_000_000,
        isLateBy seconds: Int = 0,
        _ answers: FetchFixture...
    ) -> CacheStage {
        CacheStage(
            policy,
            clock: clock,
            over: store,
            byteLimit: byteLimit,
            isLateBy: seconds,
            upstream: ScriptedDataFetcher(answers)
        )
    }
}
