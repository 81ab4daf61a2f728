import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache over a slow store that fails, and changes through the cache meanwhile.
@Suite(.timeLimit(.minutes(5)))
struct KeepingResponsesWalkTests {
    private let store = InMemoryResponseStore()

    /// After a change has been made through the cache, nobody gets what was stored before, also not after a restart.
    @Test(arguments: Thoroughness.sample([UInt64](0..<400), every: 25))
    func changesHideWhatWasStoredBefore(seed: UInt64) async throws {
        let scheduler = DeterministicScheduler(seed: seed)
        let random = SharedRandom(seed: seed)
        let delay = { @Sendable in Duration.milliseconds(random.number(below: 4)) }
        let upstream = ChangingUpstream(scheduler.timer, delay: delay)
        let slow = SlowResponseStore(store, on: scheduler.timer, delay: delay)
        for round in 0..<3 {
            // Its failures would be forgotten with the cache.
            if round == 2 { slow.failures = { random.number(below: 5) == 0 } }
            let cache = ResponseCache(byteLimit: 1_500, clock: scheduler.clock, executor: scheduler.executor)
            let partition = cache.makePartition(.shared, over: slow)
            let fetcher = upstream.caching(in: partition)
            try await scheduler.run {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<8 {
                                let path = random.number(below: 3)
                                var request = try DataRequest.example("http://upstream.test/\(path)")
                                switch random.number(below: 12) {
                                case 0:
                                    let current = upstream.current
                                    partition.removeAll(tagged: "all")
                                    upstream.confirm(current)
                                case 1: await partition.flush()
                                case 2...3:
                                    request.method = .post
                                    upstream.confirm(try await fetcher.fetch(request), path)
                                default:
                                    let oldest = upstream.confirmed(path)
                                    let version = Int(try await fetcher.fetch(request).text) ?? -1
                                    #expect(version >= oldest, "with the seed \(seed)")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await scheduler.drain()
        }
    }
}

/// Random numbers for several tasks.
private final class SharedRandom: Sendable {
    private let generator: Mutex<SplitMix64>

    init(seed: UInt64) {
        generator = Mutex(SplitMix64(seed: seed))
    }

    func number(below limit: Int) -> Int { generator.withLock { Int.random(in: 0..<limit, using: &$0) } }
}

/// An upstream whose resources have versions, which `POST` increases.
private final class ChangingUpstream: DataFetcher {
    private struct State {
        var current = [0, 0, 0]
        /// The versions that are known from an answer.
        var confirmed = [0, 0, 0]
    }

    private let state = Mutex(State())
    private let timer: TimerService
    private let delay: @Sendable () -> Duration

    init(_ timer: TimerService, delay: @escaping @Sendable () -> Duration) {
        self.timer = timer
        self.delay = delay
    }

    func confirmed(_ path: Int) -> Int { state.withLock { $0.confirmed[path] } }

    var current: [Int] { state.withLock(\.current) }

    func confirm(_ versions: [Int]) {
        state.withLock { state in
            for path in versions.indices { state.confirmed[path] = max(state.confirmed[path], versions[path]) }
        }
    }

    func confirm(_ response: DataResponse, _ path: Int) {
        state.withLock { $0.confirmed[path] = max($0.confirmed[path], Int(response.text) ?? 0) }
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let path = Int(request.url.lastPathComponent) ?? 0
        try? await timer.sleep(for: delay())
        let version = state.withLock { state in
            if request.method == .post { state.current[path] += 1 }
            return state.current[path]
        }
        try? await timer.sleep(for: delay())
        // A response to `POST` is for later `GET` requests as well.
        return DataResponse(
            "\(version)",
            ["Cache-Control: max-age=1000", "Cache-Tag: all", "Content-Location: \(request.url)"]
        )
    }
}
