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

/// Tests of a repository that writes through an outbox.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryOutboxTests {
    /// Returns an upstream that has one remark, and answers each write after the gate opens.
    private static func source(_ answer: DataResponse, after gate: Rendezvous? = nil) -> RoutedDataFetcher {
        RoutedDataFetcher()
            .on(.get, "/api/remarks", .json(#"[{"id": 1, "author": 7, "text": "old"}]"#))
            .on(.post, "/api/remarks") { _ in
                await gate?.arrive()
                return .answer(answer)
            }
    }

    /// A remark that has no identifier yet.
    private struct Draft: Codable {
        var text = "new"
        var author = 7
    }

    /// The upstream's response to the creation of a remark.
    private struct Answer: Codable {
        let id: Int
    }

    /// An endpoint for creating remarks. Pending ones have identifiers from 1,000 on.
    private static let endpoint = Endpoint(
        RemarkDTO.self,
        at: "remarks",
        subjects: { [["users", String($0.author)]] },
        creation: Creation<Remark>(Draft.self, answer: Answer.self) { draft, number in
            Remark(id: 1_000 + number, author: draft.author, text: draft.text)
        } created: { draft, answer in
            Remark(id: answer.id, author: draft.author, text: draft.text)
        }
    )

    private static let day = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private let handler = RecordingErrorHandler()
    private let store = InMemoryRecordStore(now: { day })
    private let timer = TimerService(ManualClock())

    /// Returns a repository of an upstream, with an optional store for its cache, and its open outbox.
    private func open(
        _ source: RoutedDataFetcher,
        keepingIn records: (any RecordStore)? = nil
    ) async throws -> (repository: Repository<Remark>, outbox: Outbox) {
        let upstream = try Upstream.example(source)
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: handler)
        let place = records.map { records in
            RepositoryStore(records, partition: []) {
                Self.day
            } reportFailure: { _ in
            }
        }
        let repository = Repository(Self.endpoint, upstream: upstream, store: place, outbox: outbox, timer: timer)
        try await outbox.open(handlers: [repository.handler])
        return (repository, outbox)
    }

    private func texts(_ repository: Repository<Remark>, _ policy: ReadPolicy = .cacheFirst) async throws -> [String] {
        try await repository.entities(.all, policy).value.map(\.text)
    }

    @Test func createdEntityIsShownAsPendingUntilItIsPublished() async throws {
        let gate = Rendezvous(of: 2)
        let published = DataResponse(status: .created, body: Data(#"{"id": 101}"#.utf8))
        let (repository, outbox) = try await open(Self.source(published, after: gate))
        #expect(try await texts(repository) == ["old"])
        let reading = try await repository.create(Draft())
        #expect(reading.isPending)
        #expect(reading.value.text == "new")
        // The entity is the last one in every list that it belongs in, and can be read by its identifier without a request.
        let all = try await repository.entities()
        #expect(all.value.map(\.text) == ["old", "new"] && all.isPending)
        let own = try await repository.entities(.author(7))
        #expect(own.value.last == reading.value && own.isPending)
        let others = try await repository.entities(.author(8))
        #expect(others.value.isEmpty && !others.isPending)
        #expect(try await repository.entity(reading.value.id).isPending)

        let entry = try #require(outbox.pending.first)
        await gate.arrive()
        try await outbox.settlement(of: entry)
        let after = try await repository.entities()
        #expect(after.value.map(\.id) == [1, 101] && !after.isPending)
        #expect(after.origin == .memory)
        #expect(try await repository.entity(101).value.text == "new")
        #expect(repository.pending.isEmpty)
        await outbox.close()
    }

    @Test func pendingEntitiesAreNumberedInOrder() async throws {
        let (repository, outbox) = try await open(Self.source(DataResponse(), after: Rendezvous(of: 3)))
        var ids: [Int] = []
        for text in ["first", "second"] {
            ids.append(try await repository.create(Draft(text: text)).value.id)
        }
        #expect(ids[0] >= 1_000 && ids[1] > ids[0])
        #expect(try await texts(repository) == ["old", "first", "second"])
        await outbox.close()
    }

    @Test func refusedCreationIsHiddenAndReported() async throws {
        let gate = Rendezvous(of: 2)
        let (repository, outbox) = try await open(Self.source(DataResponse(status: 422), after: gate))
        _ = try await texts(repository)
        _ = try await repository.create(Draft())
        #expect(try await texts(repository) == ["old", "new"])
        let entry = try #require(outbox.pending.first)
        await gate.arrive()
        await #expect(throws: RepositoryError.self) { try await outbox.settlement(of: entry) }
        let after = try await repository.entities()
        #expect(after.value.map(\.text) == ["old"] && !after.isPending)
        await outbox.close()
        #expect(handler.errors.map { $0 is RefusedWriteError } == [true])
    }

    /// An entity that may have been created may be in any list of the upstream.
    @Test(arguments: [(RepositoryError.Reason.outcomeUnknown, Origin.upstream), (.refused, .memory)])
    func listsAreReadAgainIfARefusedWriteMayHaveBeenDone(reason: RepositoryError.Reason, origin: Origin) async throws {
        let (repository, outbox) = try await open(Self.source(DataResponse(), after: Rendezvous(of: 2)))
        _ = try await texts(repository)
        _ = try await repository.create(Draft())
        let entry = try #require(outbox.pending.first)
        let handler = try #require(repository.handler)
        let error = RepositoryError(reason, request: "POST remarks", explanation: "was given up")
        try await handler.refused(entry, because: error, before: LaterEntries()).whenCommitted()
        let after = try await repository.entities()
        #expect(after.origin == origin && !after.isPending)
        await outbox.close()
    }

    @Test func writeOfAnEarlierProcessIsPendingInTheNext() async throws {
        let silent = Self.source(DataResponse(), after: Rendezvous(of: 2))
        let (repository, outbox) = try await open(silent)
        let id = try await repository.create(Draft()).value.id
        await outbox.close()

        let (next, nextOutbox) = try await open(silent)
        #expect(try await texts(next) == ["old", "new"])
        #expect(try await next.entity(id).isPending)
        await nextOutbox.close()
    }

    @Test(arguments: [#"{"id": 101}"#, "{}"])
    func processKilledAfterADeliveryLeavesNoOutdatedListInTheStore(answer: String) async throws {
        let gate = Rendezvous(of: 2)
        let source = Self.source(DataResponse(body: Data(answer.utf8)), after: gate)
        // After the failure, this store ignores all changes, as if the process had been killed.
        let records = RecordingRecordStore(store)
        let (repository, outbox) = try await open(source, keepingIn: records)
        #expect(try await texts(repository) == ["old"])
        await repository.flush()
        _ = try await repository.create(Draft())
        let entry = try #require(outbox.pending.first)
        records.fail(with: RecordStoreError(.unavailable, explanation: "The process was killed."))
        await gate.arrive()
        try await outbox.settlement(of: entry)
        await outbox.close()
        await repository.flush()

        let (next, nextOutbox) = try await open(source, keepingIn: store)
        await #expect(throws: RepositoryError.self) { try await next.entities(.all, .cacheOnly) }
        #expect(try await next.entities().origin == .upstream)
        await nextOutbox.close()
    }

    @Test func listsAreReadAgainAfterAnUnusableResponse() async throws {
        let gate = Rendezvous(of: 2)
        let (repository, outbox) = try await open(Self.source(DataResponse(body: Data("{}".utf8)), after: gate))
        _ = try await texts(repository)
        _ = try await repository.create(Draft())
        let entry = try #require(outbox.pending.first)
        await gate.arrive()
        try await outbox.settlement(of: entry)
        let after = try await repository.entities()
        #expect(after.origin == .upstream && !after.isPending)
        await outbox.close()
        #expect(handler.errors.map { $0 is UnusableAnswerError } == [true])
    }

    @Test func writeThatCannotBeStoredIsNotAccepted() async throws {
        let (repository, outbox) = try await open(Self.source(DataResponse()))
        await outbox.close()
        let error = await #expect(throws: RepositoryError.self) { try await repository.create(Draft()) }
        #expect(error?.reason == .closed)
        #expect(try await texts(repository) == ["old"])
    }

    @Test func acceptedWriteThatCannotBeShownHasAnUnknownOutcome() async throws {
        let upstream = try Upstream.example(Self.source(DataResponse(), after: Rendezvous(of: 2)))
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: handler)
        let creation = Creation<Remark>(Draft.self, answer: RemarkDTO.self) { _, _ in
            nil
        } created: { _, answer throws(FieldError) in
            try answer.entity()
        }
        let repository = Repository(
            Endpoint(RemarkDTO.self, at: "remarks", creation: creation),
            upstream: upstream,
            outbox: outbox,
            timer: timer
        )
        try await outbox.open(handlers: [repository.handler])
        let error = await #expect(throws: RepositoryError.self) { try await repository.create(Draft()) }
        #expect(error?.reason == .outcomeUnknown && error?.canRetry == false)
        #expect(outbox.pending.count == 1)
        await outbox.close()
    }

    /// A second repository of the same entities shows its drafts even if it has not joined the outbox.
    @Test(arguments: [true, false])
    func draftIsDecodedOncePerRepository(ofTheRepositoryThatJoined hasJoined: Bool) async throws {
        let upstream = try Upstream.example(Self.source(DataResponse(), after: Rendezvous(of: 2)))
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: handler)
        let decoded = Journal()
        let creation = Creation<Remark>(Draft.self, answer: RemarkDTO.self) { draft, _ in
            decoded.add(draft.text)
            return Remark(id: 1_001, author: draft.author, text: draft.text)
        } created: { _, answer throws(FieldError) in
            try answer.entity()
        }
        let endpoint = Endpoint(RemarkDTO.self, at: "remarks", creation: creation)
        let repositories = (0..<2).map { _ in
            Repository(endpoint, upstream: upstream, outbox: outbox, timer: timer)
        }
        try await outbox.open(handlers: [repositories[0].handler])
        let reading = try await repositories[hasJoined ? 0 : 1].create(Draft())
        #expect(reading.value == Remark(id: 1_001, author: 7, text: "new") && reading.isPending)
        // The repository has not joined, so it decodes the draft itself, in addition to the handler.
        #expect(decoded.entries == Array(repeating: "new", count: hasJoined ? 1 : 2))
        await outbox.close()
    }

    @Test func unitOfWorkAcceptsSeveralCreationsTogether() async throws {
        let (repository, outbox) = try await open(Self.source(DataResponse(), after: Rendezvous(of: 3)))
        let one = try #require(try repository.prepareCreation(of: Draft(text: "one"), "the publication of one"))
        let two = try #require(try repository.prepareCreation(of: Draft(text: "two"), "the publication of two"))
        #expect(try await texts(repository) == ["old"])
        try await RecordUnitOfWork(outbox: outbox).commit([one, two])
        #expect(try await texts(repository) == ["old", "one", "two"])
        #expect(outbox.pending.count == 2)
        await outbox.close()
    }

    @Test func closedRepositoryPreparesNothing() async throws {
        let (repository, outbox) = try await open(Self.source(DataResponse()))
        await repository.close()
        let error = #expect(throws: RepositoryError.self) { try repository.prepareCreation(of: Draft(), "a remark") }
        #expect(error?.reason == .closed)
        await outbox.close()
    }

    @Test(arguments: [
        (DataResponse.Status(500), RepositoryError.Reason.outcomeUnknown), (400, .refused),
    ])
    func errorWithoutAnOutboxSaysWhetherTheWriteMayHaveBeenDone(
        status: DataResponse.Status,
        reason: RepositoryError.Reason
    ) async throws {
        let repository = Repository(Self.endpoint, upstream: try .example(Self.source(DataResponse(status: status))))
        let error = await #expect(throws: RepositoryError.self) { try await repository.create(Draft()) }
        #expect(error?.reason == reason)
    }

    @Test func nothingIsSentWithoutAnOutboxIfTheTaskIsCancelledOrLate() async throws {
        let source = Self.source(DataResponse(status: .created, body: Data(#"{"id": 101}"#.utf8)))
        let repository = Repository(Self.endpoint, upstream: try .example(source), timer: timer)
        let clock = ManualClock()
        let deadline = Deadline(in: .seconds(1), on: clock)
        clock.advance(by: .seconds(1))
        let late = await deadline.carried { () async throws(RepositoryError) in try await repository.create(Draft()) }
        let lateError = #expect(throws: RepositoryError.self) { try late.get() }
        #expect(lateError?.reason == .unavailable)
        let reason = await withTaskGroup(of: RepositoryError.Reason?.self) { group in
            group.cancelAll()
            group.addTask {
                do throws(RepositoryError) {
                    _ = try await repository.create(Draft())
                    return nil
                } catch {
                    return error.reason
                }
            }
            return await group.next() ?? nil
        }
        #expect(reason == .cancelled)
        #expect(source.requests.isEmpty)
        #expect(try await repository.create(Draft()).value.id == 101)
    }

    @Test func nothingIsSentToAnEndpointWithoutCreation() async throws {
        let source = Self.source(DataResponse())
        let remarks = Repository(Endpoint(RemarkDTO.self, at: "remarks"), upstream: try .example(source))
        let error = await #expect(throws: RepositoryError.self) { try await remarks.create(Draft()) }
        #expect(error?.reason == .refused)
        #expect(remarks.handler == nil)
        #expect(source.requests.isEmpty)
    }
}
