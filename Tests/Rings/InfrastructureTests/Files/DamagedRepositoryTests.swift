import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardFileStores
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import Infrastructure

/// A repository and an outbox over a file store in which one byte was changed.
@Suite(.timeLimit(.minutes(10)))
struct DamagedRepositoryTests {
    private static let testTime = Date(timeIntervalSinceReferenceDate: 800_000_000)

    /// The objects of a process that uses the store.
    private struct Process {
        let outbox: Outbox
        let posts: Repository<Post>
        let upstream: IdempotentDataFetcher
        let problems = RecordingErrorHandler()
        let reports = RecordDamageReports()

        init(_ directory: URL, _ fate: IdempotentDataFetcher.Fate, at date: Date = testTime) throws {
            let list = Data(
                #"[{"userId":1,"id":1,"title":"a","body":"b"},{"userId":2,"id":2,"title":"c","body":"d"}]"#.utf8
            )
            let isEmpty = fate == .done
            upstream = IdempotentDataFetcher(
                fate: { request in request.method == .get ? (isEmpty ? .lost : .done) : fate },
                answer: { request in
                    DataResponse(body: request.method == .get ? list : Data(#"{"id": 101}"#.utf8))
                }
            )
            let address = Upstream(
                baseURL: try #require(URL(string: "http://upstream.test")),
                dataFetcher: upstream
            )
            let timer = TimerService(ManualClock())
            let records = FileRecordStore(directory: directory) {
                DamagedRepositoryTests.testTime
            } reportDamage: { [reports] in
                reports.add($0)
            }
            outbox = Outbox(
                upstream: address,
                store: records,
                timer: timer,
                now: { date },
                errorHandler: problems
            )
            let place = RepositoryStore(records, partition: ["ada"]) {
                DamagedRepositoryTests.testTime
            } reportFailure: { [problems] in
                problems.handle($0)
            }
            posts = Repository(.posts(), upstream: address, store: place, outbox: outbox, timer: timer)
        }

        func open() async throws { try await outbox.open(handlers: [posts.handler]) }

        func close() async {
            await posts.close()
            await outbox.close()
        }
    }

    @Test(arguments: Thoroughness.sample([0x01, 0xFF] as [UInt8], every: 2))
    func changedByteNeverCausesAWrongAnswerOrWrite(mask: UInt8) async throws {
        let directory = try TemporaryDirectory()
        let first = try Process(directory.url, .lost)
        try await first.open()
        let kept = try await first.posts.entities().value
        #expect(kept.count == 2)
        let draft = try PostDraft(authorID: User.ID(1), title: "new", body: "text")
        _ = try await UpstreamPostRepository(first.posts).publish(draft)
        let entry = try #require(first.outbox.pending.first)
        await first.close()
        let file = directory.url.appending(path: "records")
        let log = try Data(contentsOf: file)

        var (answers, deliveries) = (0, 0)
        let indices = Thoroughness.damaged(log.indices, by: mask, every: 29)
        for index in indices {
            let place = try TemporaryDirectory()
            var bytes = log
            bytes[index] ^= mask
            try bytes.write(to: place.url.appending(path: "records"))

            // One day later, so that no backoff of the first process delays a write.
            let process = try Process(place.url, .done, at: Self.testTime + 86_400)
            if let list = try? await process.posts.entities(.all, .cacheOnly) {
                #expect(list.value == kept, "after a change of byte \(index)")
                answers += 1
            }
            for post in kept {
                guard let found = try? await process.posts.entity(post.id, .cacheOnly) else { continue }
                #expect(found.value == post, "after a change of byte \(index)")
            }
            try await process.open()
            for left in process.outbox.pending {
                #expect(left.write == entry.write && left.idempotencyKey == entry.idempotencyKey)
                try await process.outbox.settlement(of: left)
            }
            for request in process.upstream.done {
                #expect(request.headerFields[.idempotencyKey] == entry.idempotencyKey)
                #expect(request.body.map(Array.init) == entry.write.body)
            }
            deliveries += process.upstream.done.count
            // A write that is not delivered must have been reported.
            let isReported = !process.reports.all.isEmpty || !process.problems.errors.isEmpty
            #expect(process.upstream.done.count == 1 || isReported, "after a change of byte \(index)")
            await process.close()
        }
        // Most bytes belong to other records, so many answers and deliveries must succeed.
        #expect(answers > indices.count / 3)
        #expect(deliveries > indices.count / 3)
    }
}
