import InwardCore
import InwardRepositories
import InwardTesting
import Testing

/// An entity of a service under test.
private struct Comment: Identifiable, Hashable, Sendable {
    var id: Int
    var postID = 7
    var body = "Well said."
}

private struct CommentDraft: Codable {
    var body = "New."
}

/// A port whose requirements are methods of a repository.
private protocol CommentRepository: Sendable {
    func entity(_ id: Comment.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Comment>
    func entities(
        _ filter: EntityFilter<Comment>,
        _ policy: ReadPolicy
    ) async throws(RepositoryError) -> Reading<[Comment]>
    func create(_ draft: CommentDraft) async throws(RepositoryError) -> Reading<Comment>
    func update(
        _ id: Comment.ID,
        _ change: @Sendable (inout Comment) -> Void
    ) async throws(WriteError<Comment>) -> Reading<Comment>
    func delete(_ id: Comment.ID) async throws(WriteError<Comment>)
    func close() async
}

extension Repository: CommentRepository where Entity == Comment {}
extension InMemoryRepository: CommentRepository where Entity == Comment {}

struct InMemoryRepositoryTests {
    private let comments = InMemoryRepository([Comment(id: 1), Comment(id: 7, postID: 8)]) {
        (draft: CommentDraft, number) in
        Comment(id: number, body: draft.body)
    }

    private static func error(_ reason: RepositoryError.Reason = .unavailable) -> RepositoryError {
        RepositoryError(reason, request: "Comments", explanation: "failed so")
    }

    private static let ofSeven = EntityFilter<Comment>("postId", "7") { $0.postID == 7 }

    /// Returns the error reason of each kind of call, or `nil` for a call that succeeds.
    private func endings(_ port: some CommentRepository) async -> [RepositoryError.Reason?] {
        func ending(_ call: () async throws -> Void) async -> RepositoryError.Reason? {
            do {
                try await call()
                return nil
            } catch {
                return ((error as? WriteError<Comment>)?.repositoryError ?? error as? RepositoryError)?.reason
            }
        }
        return [
            await ending { _ = try await port.entity(1, .cacheFirst) },
            await ending { _ = try await port.entities(.all, .cacheFirst) },
            await ending { _ = try await port.create(CommentDraft()) },
            await ending { _ = try await port.update(1) { $0.body = "Changed." } },
            await ending { try await port.delete(1) },
        ]
    }

    // MARK: Reads and writes

    @Test func portReadsWhatItWrites() async throws {
        let port: any CommentRepository = comments
        let created = try await port.create(CommentDraft())
        #expect(created == Reading(Comment(id: 8, body: "New."), origin: .upstream))
        let updated = try await port.update(8) { $0.body = "Changed." }
        #expect(updated == Reading(Comment(id: 8, body: "Changed."), origin: .upstream))
        #expect(try await port.entity(8, .cacheOnly) == Reading(updated.value, origin: .memory))
        #expect(try await port.entities(Self.ofSeven, .upstreamFirst).value.map(\.id) == [1, 8])
        try await port.delete(1)
        try await port.delete(1)
        #expect(try await port.entities(.all, .cacheFirst).value.map(\.id) == [7, 8])
        #expect(comments.contents.map(\.id) == [7, 8])
        #expect(comments.policies == [.cacheOnly, .upstreamFirst, .cacheFirst])
    }

    @Test func readsTakeAConditionAndCreationsANumber() async throws {
        #expect(try await comments.entities(.cacheFirst) { $0.postID == 8 }.value.map(\.id) == [7])
        #expect(try await comments.entities(.cacheFirst).value.count == 2)
        #expect(try await comments.create { Comment(id: $0) }.value.id == 8)
        try await comments.delete(8)
        // A number is not reused, as in an upstream.
        #expect(try await comments.create { Comment(id: $0) }.value.id == 9)
    }

    @Test func creationsAreNumberedEvenIfIdentifiersAreNotNumbers() async throws {
        struct Label: Identifiable, Sendable { let id: String }
        let labels = InMemoryRepository<Label>()
        for number in 1...2 {
            #expect(try await labels.create { Label(id: "label \($0)") }.value.id == "label \(number)")
        }
        #expect(labels.contents.count == 2)
    }

    @Test func missingEntityCannotBeReadOrUpdated() async throws {
        let error = await #expect(throws: RepositoryError.self) { try await comments.entity(2) }
        #expect(error?.reason == .notFound && error?.description == "Comment 2 is not in the in-memory repository")
        await #expect(throws: WriteError<Comment>.self) { try await comments.update(2) { $0.body = "Changed." } }
        #expect(comments.contents.map(\.id) == [1, 7])
    }

    @Test func updateCannotChangeTheIdentifier() async {
        let error = await #expect(throws: WriteError<Comment>.self) { try await comments.update(1) { $0.id = 2 } }
        #expect(error?.repositoryError.reason == .refused)
        #expect(comments.contents.map(\.id) == [1, 7])
    }

    @Test func draftOfAnotherTypeIsRefusedWithAdvice() async {
        let error = await #expect(throws: RepositoryError.self) { try await comments.create("New.") }
        #expect(error?.reason == .refused)
        #expect(error?.explanation.contains("`InMemoryRepository { (draft: String, number) in … }`") == true)
        let none = InMemoryRepository<Comment>()
        await #expect(throws: RepositoryError.self) { try await none.create(CommentDraft()) }
        #expect(none.contents.isEmpty)
    }

    @Test func entitiesCanBePutAndRemovedAsByAnotherUser() async throws {
        comments.put(Comment(id: 1, body: "Theirs."))
        comments.put(Comment(id: 9))
        comments.remove(7)
        #expect(comments.contents == [Comment(id: 1, body: "Theirs."), Comment(id: 9)])
        #expect(try await comments.create(CommentDraft()).value.id == 10)
    }

    // MARK: Provenance

    @Test func readingHasThePrescribedProvenance() async throws {
        let rejected = [RejectedRecord(list: "comments", position: 3, field: "id", reason: "is missing")]
        let failure = Self.error()
        comments.setProvenance(
            origin: .store,
            age: .seconds(90),
            isStale: true,
            rejected: rejected,
            fallbackReason: failure
        )
        let one = try await comments.entity(1)
        #expect(
            one
                == Reading(Comment(id: 1), origin: .store, age: .seconds(90), isStale: true, fallbackReason: failure)
        )
        #expect(try await comments.entities().rejected == rejected)
        comments.setProvenance()
        #expect(try await comments.entity(1) == Reading(Comment(id: 1), origin: .memory))
    }

    @Test func heldWritesArePendingUntilTheyAreDelivered() async throws {
        comments.holdWrites()
        let created = try await comments.create(CommentDraft())
        #expect(created == Reading(Comment(id: 8, body: "New."), origin: .memory, isPending: true))
        #expect(try await comments.update(7) { $0.body = "Changed." }.isPending)
        for (id, isPending) in [(1, false), (7, true), (8, true)] {
            #expect(try await comments.entity(id).isPending == isPending)
        }
        comments.deliverWrites()
        #expect(try await !comments.entities().isPending)
        #expect(try await !comments.create(CommentDraft()).isPending)
    }

    @Test func listIsPendingIfAWriteAffectsIt() async throws {
        comments.holdWrites()
        try await comments.delete(7)
        #expect(try await comments.entities().isPending)
        #expect(try await !comments.entities(Self.ofSeven).isPending)
        comments.showAsPending(1)
        #expect(try await comments.entities(Self.ofSeven).isPending)
        #expect(try await comments.entity(1).isPending)
        comments.deliverWrites()
        #expect(try await !comments.entities().isPending)
    }

    // MARK: Failures

    @Test func errorOfAllCallsLastsUntilItIsCleared() async {
        comments.fail(with: Self.error(.denied))
        #expect(await endings(comments) == Array(repeating: .denied, count: 5))
        #expect(comments.contents == [Comment(id: 1), Comment(id: 7, postID: 8)])
        comments.fail(with: nil)
        #expect(await endings(comments) == Array(repeating: nil, count: 5))
        #expect(await endings(InMemoryRepository(failure: Self.error())) == Array(repeating: .unavailable, count: 5))
    }

    @Test func errorOfTheNextReadIsThrownOnce() async throws {
        comments.failNextRead(with: Self.error(.unavailable))
        comments.failNextRead(with: Self.error(.denied))
        #expect(await endings(comments) == [.unavailable, .denied, nil, nil, nil])
        #expect(try await comments.entities().value.map(\.id) == [7, 8])
    }

    @Test func errorOfTheNextWriteIsThrownOnce() async {
        for reason in [RepositoryError.Reason.outcomeUnknown, .refused, .denied] {
            comments.failNextWrite(with: Self.error(reason))
        }
        #expect(await endings(comments) == [nil, nil, .outcomeUnknown, .refused, .denied])
        #expect(comments.contents == [Comment(id: 1), Comment(id: 7, postID: 8)])
    }

    @Test func conflictReportsBothVersionsAndKeepsTheirs() async throws {
        let theirs = Comment(id: 1, body: "Theirs.")
        comments.conflictOnNextEdit(with: theirs)
        comments.conflictOnNextEdit(with: nil)
        do {
            try await comments.update(1) { $0.body = "Mine." }
            #expect(Bool(false), "The call did not throw a conflict.")
        } catch .conflict(let conflict) {
            #expect(conflict.mine?.body == "Mine." && conflict.theirs == theirs)
            #expect(conflict.refusal.reason == .conflict)
        } catch .failed(let error) {
            throw error
        }
        #expect(try await comments.entity(1).value == theirs)
        do {
            try await comments.delete(7)
            #expect(Bool(false), "The call did not throw a conflict.")
        } catch .conflict(let conflict) {
            #expect(conflict.mine == nil && conflict.theirs == nil)
        } catch .failed(let error) {
            throw error
        }
        #expect(comments.contents == [theirs])
        try await comments.update(1) { $0.body = "Mine." }
    }

    @Test func editsCanThrowRepositoryErrorsWithoutTheVersions() async throws {
        let updated = try await comments.update(1, throwing: RepositoryError.self) { $0.body = "Mine." }
        #expect(updated.value == Comment(id: 1, body: "Mine."))
        comments.conflictOnNextEdit(with: Comment(id: 1, body: "Theirs."))
        let conflict = await #expect(throws: RepositoryError.self) {
            try await comments.update(1, throwing: RepositoryError.self) { $0.body = "Mine, too." }
        }
        #expect(conflict?.reason == .conflict)
        comments.failNextWrite(with: Self.error(.denied))
        await #expect(throws: Self.error(.denied)) { try await comments.delete(7, throwing: RepositoryError.self) }
        try await comments.delete(7, throwing: RepositoryError.self)
        #expect(comments.contents == [Comment(id: 1, body: "Theirs.")])
        // The edits do not count as reads.
        #expect(comments.policies == [])
    }

    @Test func closedRepositoryFails() async {
        let port: any CommentRepository = comments
        await port.close()
        #expect(await endings(comments) == Array(repeating: .closed, count: 5))
    }

    @Test func cancelledTaskGetsNoAnswer() async {
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                let endings = await endings(comments)
                #expect(endings == Array(repeating: .cancelled, count: 5))
            }
        }
        #expect(comments.contents.count == 2 && comments.policies.isEmpty)
    }
}
