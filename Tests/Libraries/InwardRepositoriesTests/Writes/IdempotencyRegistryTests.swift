import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct IdempotencyRegistryTests {
    /// A date that a test sets.
    private final class Calendar: Sendable {
        let date = Mutex(Date(timeIntervalSince1970: 1_000_000))

        func advance(by seconds: Double) { date.withLock { $0 += seconds } }
    }

    private struct Refusal: Error {}

    private let store = InMemoryRecordStore()
    private let calendar = Calendar()
    private let errors = RecordingErrorHandler()
    private let key: IdempotencyKey
    private let registry: IdempotencyRegistry

    init() throws {
        key = try IdempotencyKey("key-1")
        registry = IdempotencyRegistry(
            store: store,
            lifetime: .seconds(100),
            requestLimit: .seconds(10),
            now: { [calendar] in calendar.date.withLock(\.self) },
            errorHandler: errors
        )
    }

    private func response(_ text: String, of client: String = "ada", to request: String = "POST /") async throws
        -> String
    {
        let response = try await registry.response(to: key, of: client, fingerprint: Array(request.utf8)) {
            Array(text.utf8)
        }
        return "\(response.isRepeated ? "again" : "first"): \(String(decoding: response.bytes, as: UTF8.self))"
    }

    @Test func repeatedRequestGetsTheFirstResponse() async throws {
        #expect(try await response("one") == "first: one")
        #expect(try await response("two") == "again: one")
    }

    @Test func clientsAndKeysAreSeparate() async throws {
        _ = try await response("one")
        #expect(try await response("two", of: "bob") == "first: two")
        let other = try await registry.response(to: IdempotencyKey("key-2"), of: "ada", fingerprint: []) { [3] }
        #expect(other.bytes == [3] && !other.isRepeated)
    }

    @Test func otherRequestWithTheSameKeyIsRefused() async throws {
        _ = try await response("one")
        await #expect(throws: IdempotencyError.differentRequest) { try await response("two", to: "DELETE /") }
        #expect(try await response("two") == "again: one")
    }

    @Test func requestThatIsBeingProcessedIsNotRepeated() async throws {
        let fingerprint = Array("POST /".utf8)
        let response = try await registry.response(to: key, of: "ada", fingerprint: fingerprint) {
            await #expect(throws: IdempotencyError.inProgress) { try await self.response("two") }
            calendar.advance(by: 9)
            await #expect(throws: IdempotencyError.inProgress) { try await self.response("two") }
            return [1]
        }
        #expect(!response.isRepeated)
    }

    @Test func requestOfAnInstanceWhoseClockIsAheadIsBeingProcessed() async throws {
        _ = try await registry.response(to: key, of: "ada", fingerprint: Array("POST /".utf8)) {
            calendar.advance(by: -5)
            await #expect(throws: IdempotencyError.inProgress) { try await self.response("two") }
            return [1]
        }
    }

    @Test func requestWithoutAResponseAtItsLimitHasAnUnknownOutcome() async throws {
        _ = try await registry.response(to: key, of: "ada", fingerprint: Array("POST /".utf8)) {
            calendar.advance(by: 10)
            await #expect(throws: IdempotencyError.outcomeUnknown) { try await self.response("two") }
            return [1]
        }
    }

    @Test func failureFreesTheKey() async throws {
        await #expect(throws: Refusal.self) {
            try await registry.response(to: key, of: "ada", fingerprint: []) { throw Refusal() }
        }
        #expect(try await response("one") == "first: one")
    }

    @Test(
        arguments: [
            RepositoryError(.outcomeUnknown, request: "POST /", explanation: "was sent"), CancellationError(),
        ] as [any Error]
    )
    func failureWithAnUnknownOutcomeKeepsTheKey(error: any Error) async throws {
        await #expect(throws: (any Error).self) {
            try await registry.response(to: key, of: "ada", fingerprint: Array("POST /".utf8)) { throw error }
        }
        await #expect(throws: IdempotencyError.outcomeUnknown) { try await response("two") }
    }

    @Test func cancellationAfterTheWorkDoesNotLoseTheResponse() async throws {
        let task = Task { [registry, key] in
            try await registry.response(to: key, of: "ada", fingerprint: Array("POST /".utf8)) {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return Array("one".utf8)
            }
        }
        _ = try await task.value
        #expect(try await response("two") == "again: one")
    }

    @Test func responsesAreKeptForALifetimeAndThenRemoved() async throws {
        for start in [0.0, 99] {
            calendar.advance(by: start)
            _ = try await response("one", of: "client \(start)")
            calendar.advance(by: 100)
            #expect(try await response("two", of: "client \(start)") == "again: one")
        }
        // A request in the period after the next removes all records of the first.
        calendar.advance(by: 200)
        #expect(try await response("three", of: "client 0.0") == "first: three")
        #expect(try await store.records(under: ["idempotency"]).count == 1)
    }

    @Test(arguments: [200.0, 301, 100_000])
    func fullStoreHasRoomAgainWhenResponsesAreOld(seconds: Double) async throws {
        let registry = IdempotencyRegistry(
            store: InMemoryRecordStore(byteLimit: 2_000, now: { [calendar] in calendar.date.withLock(\.self) }),
            lifetime: .seconds(100),
            now: { [calendar] in calendar.date.withLock(\.self) }
        )
        func answer(_ number: Int) async throws -> Bool {
            let key = try IdempotencyKey("key-\(number)")
            return try await registry.response(to: key, of: "ada", fingerprint: []) { [1] }.isRepeated
        }
        var number = 0
        await #expect(throws: RecordStoreError.self) {
            while number < 100 {
                number += 1
                _ = try await answer(number)
            }
        }
        #expect((2..<100).contains(number))
        calendar.advance(by: seconds)
        #expect(try await !answer(number))
        #expect(try await answer(number))
    }

    @Test func clockThatIsAheadDoesNotRepeatTheWork() async throws {
        calendar.advance(by: 99)
        _ = try await response("one")
        calendar.advance(by: -99)
        #expect(try await response("two") == "again: one")
    }

    @Test func failingStorePreventsTheWork() async throws {
        let failure = RecordStoreError(.full, explanation: "The disk is full.")
        let registry = IdempotencyRegistry(store: RefusingStore(base: store, failure: failure), now: { Date() })
        await #expect(throws: failure) {
            try await registry.response(to: key, of: "ada", fingerprint: []) {
                Issue.record("The work must not begin.")
                return []
            }
        }
    }

    @Test func responseThatCannotBeRecordedIsReturnedAndReported() async throws {
        let failure = RecordStoreError(.full, explanation: "The disk is full.")
        let refusing = RefusingStore(base: store, failure: failure, afterCommits: 1)
        let registry = IdempotencyRegistry(store: refusing, now: { Date() }, errorHandler: errors)
        let response = try await registry.response(to: key, of: "ada", fingerprint: []) { [1] }
        #expect(response.bytes == [1])
        #expect(errors.errors.compactMap { $0 as? RecordStoreError } == [failure])
    }

    @Test func damagedRecordHasAnUnknownOutcome() async throws {
        _ = try await response("one")
        let record = try #require(try await store.records(under: ["idempotency"]).first?.key)
        try await store.commit([.keep(StoredRecord([0xFF]), record)])
        await #expect(throws: IdempotencyError.outcomeUnknown) { try await response("two") }
    }

    @Test func keysAreReadWithAndWithoutQuotationMarks() throws {
        #expect(try IdempotencyKey("\"a b\"").description == "a b")
        #expect(try IdempotencyKey("a b") == IdempotencyKey("\"a b\""))
        #expect(try IdempotencyKey(String(repeating: "x", count: 255)).description.count == 255)
        for value in ["", "\"\"", "\"", "a\"b", "a\\b", "ü", "a\nb", String(repeating: "x", count: 256)] {
            #expect(throws: IdempotencyError.invalidKey) { try IdempotencyKey(value) }
        }
    }

    @Test func errorsHaveTheStatusesOfTheDraft() {
        let statuses: [(IdempotencyError, DataResponse.Status)] = [
            (.invalidKey, 400), (.inProgress, 409), (.differentRequest, 422), (.outcomeUnknown, 504),
        ]
        for (error, status) in statuses { #expect(ProblemDetails(error).status == status) }
        #expect(IdempotencyError.inProgress.problemDetails.retryAfter == .seconds(1))
    }
}

/// A store that refuses commits after some.
private struct RefusingStore: SharedRecordStore {
    private final class Count: Sendable {
        let value = Mutex(0)
    }

    private let base: InMemoryRecordStore
    private let failure: RecordStoreError
    private let limit: Int
    private let count = Count()

    init(base: InMemoryRecordStore, failure: RecordStoreError, afterCommits limit: Int = 0) {
        (self.base, self.failure, self.limit) = (base, failure, limit)
    }

    private func countCommit() throws(RecordStoreError) {
        let number = count.value.withLock { value in
            value += 1
            return value
        }
        if number > limit { throw failure }
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { try await base.record(for: key) }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try countCommit()
        try await base.commit(changes)
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }

    func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        try await base.snapshots(for: keys)
    }

    func commit(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError) {
        try countCommit()
        try await base.commit(changes, if: conditions)
    }

    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try await base.lease(under: key, limit: limit, for: duration)
    }

    func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        try await base.extend(lease, for: duration)
    }

    func announcements(under key: RecordKey) -> RecordAnnouncements { base.announcements(under: key) }
}
