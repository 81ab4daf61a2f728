import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct OutboxControllerTests {
    private let scheduler = DeterministicScheduler(seed: 7)
    private let store = InMemoryRecordStore(now: { Date(timeIntervalSinceReferenceDate: 800_000_000) })

    /// Returns an outbox with one accepted post, and its controller.
    private func controller(_ source: any DataFetcher) async throws -> (OutboxController, Outbox) {
        let upstream = try Upstream.example(source)
        let timer = scheduler.timer
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: RecordingErrorHandler())
        let posts = Repository(.posts(), upstream: upstream, outbox: outbox, timer: timer)
        try await outbox.open(handlers: [posts.handler])
        let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "On engines")
        _ = try await UpstreamPostRepository(posts).publish(draft)
        return (OutboxController(outbox, timeLimit: .seconds(30), timer: timer), outbox)
    }

    @Test func refusedPostIsListedAndDiscarded() async throws {
        try await scheduler.run {
            let (controller, outbox) = try await controller(StubDataFetcher(DataResponse(status: 422)))
            #expect(await controller.deliver().line == "Delivered 0, refused 1; 0 pending until the next start.")
            let list = try await controller.list()
            #expect(list.refusedCount == 1 && list.pendingCount == 0)
            #expect(
                try await controller.refusals()?.hasPrefix("1 refused post is kept: the post “Notes” of user 7.")
                    == true
            )
            let id = try #require(list.rows.first?.id)
            #expect(try await controller.retry(id).isDelivered == false)
            // The retry uses another idempotency key, so the write has another ID.
            let next = try #require(try await controller.list().rows.first?.id)
            #expect(try await controller.discard(next) == "Discarded the post “Notes” of user 7.")
            #expect(try await controller.list().rows.isEmpty)
            #expect(try await controller.refusals() == nil)
            await #expect(throws: FailureViewModel.self) { try await controller.discard(next) }
            await outbox.close()
        }
    }

    @Test func undeliveredPostStaysPending() async throws {
        try await scheduler.run {
            let (controller, outbox) = try await controller(StubDataFetcher(failing: .unreachable))
            #expect(await controller.deliver().line == "Delivered 0, refused 0; 1 pending until the next start.")
            let id = try #require(try await controller.list().rows.first?.id)
            let (line, isDelivered) = try await controller.retry(id)
            #expect(line == "The post “Notes” of user 7 is pending, and will be sent again.")
            #expect(!isDelivered)
            await outbox.close()
        }
    }

    @Test func outboxOfAnotherOwnerIsNotChanged() async throws {
        try await scheduler.run {
            let (controller, owner) = try await controller(StubDataFetcher(failing: .unreachable))
            let id = try #require(try await controller.list().rows.first?.id)
            let upstream = try Upstream.example(StubDataFetcher(DataResponse(status: .created)))
            let timer = scheduler.timer
            let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: RecordingErrorHandler())
            let other = OutboxController(outbox, timeLimit: .seconds(30), timer: timer)
            let before = timer.now
            let retry = await #expect(throws: FailureViewModel.self) { try await other.retry(id) }
            let discard = await #expect(throws: FailureViewModel.self) { try await other.discard(id) }
            for failure in [retry, discard] {
                #expect(failure?.summary.contains("is owned by another part of this process") == true)
            }
            #expect(timer.now == before)
            #expect(try await controller.list().pendingCount == 1)
            await outbox.close()
            await owner.close()
        }
    }
}
