import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RecordUnitOfWorkTests {
    /// The stores, by the names of their locations. They outlive the outboxes over them.
    private final class Places: Sendable {
        private let stores = Mutex<[String: InMemoryRecordStore]>([:])

        func store(_ place: String) -> InMemoryRecordStore {
            stores.withLock { stores in
                let store = stores[place] ?? InMemoryRecordStore()
                stores[place] = store
                return store
            }
        }
    }

    @Test func conformsWithAnInMemoryStore() async throws {
        let places = Places()
        try await UnitOfWorkConformance(isDurable: true).check { place in
            try await .records(in: places.store(place), seed: 1)
        }
    }

    @Test func conformsWhenProcessesEnd() async throws {
        let places = Places()
        try await UnitOfWorkConformance(isDurable: true).checkCrashes { place, step in
            let process = MortalProcess(steps: step ?? .max)
            let store = MortalRecordStore(base: places.store(place), process: process)
            return try await .records(in: store, dataFetcher: StubDataFetcher(failing: .unreachable), seed: 1)
        }
    }

    @Test func changesShareOneCommitAndEachReceivesItsEntries() async throws {
        let stage = OutboxStage()
        let notes = RecordingOutboxHandler("notes")
        let told = Mutex<[[String]]>([])
        try await stage.scheduler.run {
            let outbox = try stage.outbox(stage.upstream())
            try await outbox.open(handlers: [stage.handler, notes])
            let changes = [
                PreparedRecordChange(
                    "the first",
                    for: outbox,
                    writes: [OutboxStage.write(["7"]), OutboxStage.write(["8"])],
                    changes: [.keep(StoredRecord([1]), ["a"])]
                ) { entries in
                    // The handlers have already been notified.
                    #expect(notes.pending.count == 1)
                    told.withLock { $0.append(entries.map(\.write.path)) }
                },
                PreparedRecordChange("the second", for: outbox, changes: [.remove(["b"])]) { entries in
                    told.withLock { $0.append(entries.map(\.write.path)) }
                },
                PreparedRecordChange("the third", for: outbox, writes: [OutboxStage.write(["9"], endpoint: "notes")]) {
                    entries in told.withLock { $0.append(entries.map(\.write.path)) }
                },
            ]
            let entries = try await RecordUnitOfWork(outbox: outbox).entries(committing: changes)
            #expect(entries.map(\.write.path) == ["7", "8", "9"])
            #expect(entries.map(\.sequence) == [0, 1, 2])
            #expect(told.withLock(\.self) == [["7", "8"], [], ["9"]])
            let commit = try #require(stage.store.commits.dropFirst().first)
            #expect(commit.count == 5)
            #expect(commit.prefix(2) == [.keep(StoredRecord([1]), ["a"]), .remove(["b"])])
            for entry in entries { try await outbox.settlement(of: entry) }
            await outbox.close()
        }
    }

    @Test(arguments: [
        (RecordStoreError.Reason.full, UnitOfWorkError.Reason.full), (.denied, .denied), (.closed, .closed),
        (.cancelled, .cancelled), (.unavailable, .unavailable),
    ])
    func storeErrorsAreTranslated(reason: RecordStoreError.Reason, expected: UnitOfWorkError.Reason) async throws {
        let stage = OutboxStage()
        let outbox = try stage.outbox(StubDataFetcher(failing: .unreachable))
        try await outbox.open(handlers: [stage.handler])
        let change = PreparedRecordChange("it", for: outbox, changes: [.remove(["a"])]) { _ in
            Issue.record("Nothing was committed.")
        }
        stage.store.fail(with: RecordStoreError(reason, explanation: "It says so."))
        await #expect(throws: UnitOfWorkError(expected, explanation: "It says so.")) {
            try await RecordUnitOfWork(outbox: outbox).commit([change])
        }
        await outbox.close()
    }

    @Test func changeOfAnotherTypeIsForeign() async throws {
        struct Other: PreparedChange { let description = "the publication of a post" }
        let stage = OutboxStage()
        let outbox = try stage.outbox(stage.upstream())
        let error = await #expect(throws: UnitOfWorkError.self) {
            try await RecordUnitOfWork(outbox: outbox).commit([Other()])
        }
        #expect(error?.reason == .foreign)
        #expect(error?.explanation.contains("the publication of a post was prepared for another outbox") == true)
    }
}
