import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryBatchingTests {
    private let clock: ManualClock
    private let timer: TimerService

    init() {
        clock = ManualClock()
        timer = TimerService(clock)
    }

    private func repository(
        _ source: some DataFetcher,
        limit: Int = 100,
        memory: MemoryLimit = MemoryLimit()
    ) throws -> Repository<Remark> {
        let batching = Batching<Int>(limit: limit) { ids in ids.map { ("id", $0.description) } }
        return Repository(
            Endpoint(RemarkDTO.self, at: "remarks", batching: batching),
            upstream: try .example(source),
            memory: memory,
            timer: timer
        )
    }

    private func record(_ id: Int) -> String { #"{"id": \#(id), "author": 7, "text": "t\#(id)"}"# }

    /// Returns the outcomes of concurrent reads of single remarks.
    private func outcomes(_ ids: [Int], _ repository: Repository<Remark>) async -> [Int: Result<
        String, RepositoryError
    >] {
        await withTaskGroup(of: (Int, Result<String, RepositoryError>).self) { group in
            for id in ids {
                group.addTask {
                    let result = await Result(awaiting: { () async throws(RepositoryError) in
                        try await repository.entity(id).value.text
                    })
                    return (id, result)
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    /// Each entity takes an equal share of the bytes of the response.
    @Test func entitiesOfABatchShareItsBytes() async throws {
        let body = Data("[\((1...4).map(record).joined(separator: ","))]".utf8)
        let source = StubDataFetcher(DataResponse(body: body))
        let repository = try repository(source, limit: 4, memory: MemoryLimit(count: 10, bytes: body.count))
        let outcomes = await outcomes([1, 2, 3, 4], repository)
        #expect(outcomes.count == 4)
        for id in 1...4 { #expect(try await repository.entity(id, .cacheOnly).origin == .memory) }
    }

    /// The only entity of a response takes all of its bytes.
    @Test func soleEntityOfABatchHasAllOfItsBytes() async throws {
        let long = String(repeating: "x", count: 1_000)
        let source = StubDataFetcher { request throws(FetchError) in
            let id = request.url.query()?.contains("id=1") == true ? 1 : 3
            return DataResponse(
                body: Data(#"[{"id": \#(id), "author": 7, "text": "\#(long)"}]"#.utf8)
            )
        }
        let repository = try repository(source, limit: 2, memory: MemoryLimit(count: 10, bytes: 1_500))
        for ids in [[1, 2], [3, 4]] { #expect(await outcomes(ids, repository).count == 2) }
        await #expect(throws: RepositoryError.self) { try await repository.entity(1, .cacheOnly) }
        #expect(try await repository.entity(3, .cacheOnly).origin == .memory)
    }

    @Test(arguments: [-1, 0, 1]) func batchLimitIsAtLeastOne(limit: Int) {
        #expect(Batching<Int>(limit: limit) { _ in [] }.limit == 1)
    }

    @Test func concurrentSingleReadsShareOneRequest() async throws {
        let body = Data("[\(record(1)), \(record(3))]".utf8)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: body)))
        let repository = try repository(source, limit: 3)
        let outcomes = await outcomes([1, 2, 3], repository)
        #expect(try outcomes[1]?.get() == "t1")
        #expect(try outcomes[3]?.get() == "t3")
        #expect(source.requests.count == 1)
        let query = Set(source.requests[0].url.query()?.split(separator: "&").map(String.init) ?? [])
        #expect(query == ["id=1", "id=2", "id=3"])
        #expect(source.requests[0].headerFields[.cacheControl] == nil)
        // An entity that is missing from the response does not exist, and its absence is cached.
        #expect(throws: RepositoryError.self) { try outcomes[2]?.get() }
        let error = await #expect(throws: RepositoryError.self) { try await repository.entity(2, .cacheOnly) }
        #expect(error?.reason == .notFound)
        #expect(try await repository.entity(3).origin == .memory)
        #expect(source.requests.count == 1)
        // No older response is in flight any more.
        repository.invalidateAll()
        #expect(repository.memory.changeCount == 0)
    }

    @Test func damagedRecordIsNotAbsence() async throws {
        let body = Data(#"[\#(record(1)), {"id": "seven"}]"#.utf8)
        let repository = try repository(StubDataFetcher(DataResponse(body: body)), limit: 2)
        let outcomes = await outcomes([1, 2], repository)
        guard case .failure(let error) = outcomes[2] else { return #expect(Bool(false), "\(outcomes)") }
        #expect(error.reason == .unreadable)
        #expect(error.explanation.contains("remarks[1]"))
        #expect(try outcomes[1]?.get() == "t1")
    }

    @Test func failureReachesEveryReaderOfABatch() async throws {
        let repository = try repository(StubDataFetcher(DataResponse(status: 503)), limit: 2)
        let outcomes = await outcomes([1, 2], repository)
        for id in [1, 2] {
            guard case .failure(let error) = outcomes[id] else { return #expect(Bool(false), "\(outcomes)") }
            #expect(error.reason == .unavailable)
        }
    }

    @Test func singleReadIsRequestedAlone() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data(record(1).utf8))))
        let repository = try repository(source)
        async let alone = repository.entity(1)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(2))
        #expect(try await alone.value.text == "t1")
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/remarks/1"])
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == [nil])
    }

    @Test func closingEndsBatches() async throws {
        let begun = Rendezvous(of: 2)
        let ended = Promise<Bool>()
        let source = StubDataFetcher { request throws(FetchError) in
            await begun.arrive()
            // Only cancellation ends this wait.
            await Rendezvous(of: 2).arrive()
            ended.fulfill(Task.isCancelled)
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let repository = try repository(source, limit: 2)
        async let outcomes = outcomes([1, 2], repository)
        await begun.arrive()
        await repository.close()
        guard case .fulfilled(true) = await ended.value() else { return #expect(Bool(false), "The batch went on.") }
        for (_, outcome) in await outcomes {
            #expect(throws: RepositoryError.self) { try outcome.get() }
        }
    }

    @Test func readThatAcceptsNoCopiesIsRequestedAlone() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data(record(1).utf8))))
        #expect(try await repository(source).entity(1, .upstreamOnly).value.text == "t1")
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache"])
    }
}
