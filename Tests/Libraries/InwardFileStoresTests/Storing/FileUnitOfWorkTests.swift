import Foundation
import InwardCore
import InwardFetching
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tests of units of work and outboxes on top of a file store.
@Suite(.timeLimit(.minutes(10)))
struct FileUnitOfWorkTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func unitOfWorkConforms() async throws {
        let url = directory.url
        try await UnitOfWorkConformance(isDurable: true).check { place in
            try await .records(in: FileRecordStore.opened(url.appending(path: place)), seed: 1)
        }
    }

    /// Ends the process at each step of the store in turn, after it has written the given number of bytes in that step.
    @Test(arguments: Thoroughness.isExhaustive ? [0, 60] : [60]) func unitOfWorkConformsIfTheProcessEndsAtAnyStep(
        writtenCount: Int
    )
        async throws
    {
        let url = directory.url
        try await UnitOfWorkConformance(isDurable: true).checkCrashes { place, step in
            let steps = Mutex(0)
            let store = FileRecordStore.opened(url.appending(path: place)) { _ in
                guard let step else { return nil }
                let current = steps.withLock { steps in
                    defer { steps += 1 }
                    return steps
                }
                guard current >= step else { return nil }
                return RecordFileFault(code: EIO, writtenCount: current == step ? writtenCount : 0)
            }
            return try await .records(in: store, dataFetcher: StubDataFetcher(failing: .unreachable), seed: 1)
        }
    }

    /// Ends the process at each step of the store in turn. The next process delivers each accepted write exactly once.
    @Test func acceptedWriteIsDeliveredOnceIfTheProcessEndsAtAnyStep() async throws {
        var hasEnded = false
        var step = 0
        while !hasEnded {
            let url = directory.url.appending(path: "outbox-\(step)")
            let upstream = IdempotentDataFetcher()
            let steps = Mutex(0)
            let mortal = FileRecordStore.opened(url) { [step] _ in
                let current = steps.withLock { steps in
                    defer { steps += 1 }
                    return steps
                }
                return current >= step ? RecordFileFault(code: EIO) : nil
            }
            var accepted: [String] = []
            let first = try outbox(over: mortal, upstream, seed: 1)
            if (try? await first.open(handlers: [RecordingOutboxHandler()])) != nil {
                for number in 0..<4 {
                    guard (try? await first.accept([write(number)])) != nil else { break }
                    accepted.append(String(number))
                }
            }
            await first.close()
            hasEnded = steps.withLock(\.self) <= step

            let next = try outbox(over: FileRecordStore.opened(url), upstream, seed: 2)
            try await next.open(handlers: [RecordingOutboxHandler()])
            for entry in next.pending { try await next.settlement(of: entry) }
            await next.close()
            let done = upstream.done.map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
            // The last write may have become durable although its caller got an error.
            #expect(done == accepted || done == accepted + [String(accepted.count)], "at step \(step)")
            step += Thoroughness.stride(sampling: 7)
        }
        #expect(step > 20)
    }

    private func write(_ number: Int) -> OutboxWrite {
        OutboxWrite(endpoint: "posts", subject: ["7"], path: "posts/7", body: Array(String(number).utf8))
    }

    private func outbox(
        over store: any RecordStore,
        _ upstream: any DataFetcher,
        seed: UInt64
    ) throws -> Outbox {
        Outbox(
            upstream: Upstream(baseURL: try #require(URL(string: "http://upstream.test/")), dataFetcher: upstream),
            store: store,
            // While the clock stands still, the outbox retries nothing.
            timer: TimerService(ManualClock()),
            generator: SplitMix64(seed: seed),
            errorHandler: IgnoringErrorHandler()
        )
    }
}
