import InwardCore
import InwardFetching
import InwardImages
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardImageServing

/// Tests what concurrent requests share.
@Suite(.timeLimit(.minutes(5)))
struct ImageServerSharingTests {
    private let source = SketchSource(["a": SketchCodec.bytes(8, 4), "b": SketchCodec.bytes(8, 4)], isOpen: false)

    private func request(_ stage: ServerStage, _ recipe: String = "grayscale") -> Task<DataResponse?, Never> {
        Task.waiting { try? await stage.get("a", recipe) }
    }

    @Test func concurrentRequestsShareOneLoadAndOneEncoding() async throws {
        let stage = try ServerStage(source)
        let requests = (0..<50).map { _ in request(stage) }
        source.open()
        for request in requests { #expect(await request.value?.text == "image/jpeg q82 8×4") }
        #expect(source.asked == ["a"] && stage.codec.encoded.count == 1)
    }

    @Test func concurrentRequestsWithSeveralRecipesShareTheFetch() async throws {
        let stage = try ServerStage(source)
        let requests = ["crop=1x1", "crop=2x1", "blur=2"].map { request(stage, $0) }
        source.open()
        for request in requests { #expect(await request.value?.status == .ok) }
        #expect(source.asked == ["a"] && stage.codec.encoded.count == 3)
    }

    @Test func cancelledRequestLeavesTheWorkToTheOthers() async throws {
        let stage = try ServerStage(source)
        let (first, second) = (request(stage), request(stage))
        first.cancel()
        #expect(await first.value?.status == 503)
        source.open()
        #expect(await second.value?.status == .ok)
        #expect(source.asked == ["a"] && source.cancelled == 0 && stage.errors.errors.isEmpty)
    }

    @Test func workIsCancelledWithTheLastRequest() async throws {
        let stage = try ServerStage(source)
        let request = request(stage)
        request.cancel()
        #expect(await request.value?.headerFields[.cacheControl] == "no-store")
        source.open()
        #expect(try await stage.get().status == .ok)
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func deadlineEndsTheWaitOfOneRequest() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let stage = try ServerStage(source)
        let hasty = Task.waiting {
            await Deadline(in: .seconds(1), on: timer).carried(by: { try await stage.get().status.code })
        }
        let patient = request(stage)
        await timer.timers(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await hasty.value.get() == 503)
        #expect(stage.errors.errors.compactMap { $0 as? ImageError }.map(\.reason) == [.timedOut])
        source.open()
        #expect(await patient.value?.status == .ok)
    }

    @Test func failureIsReportedOnceForAllRequests() async throws {
        let stage = try ServerStage(source)
        source.answer("a", .failure(ImageError(.unavailable, of: "a", explanation: "is not available")))
        let requests = (0..<20).map { _ in request(stage) }
        source.open()
        for request in requests { #expect(await request.value?.status == 503) }
        #expect(stage.errors.errors.count == 1)
    }

    @Test func requestsAfterForgettingDoNotJoinALoadThatBeganBefore() async throws {
        let stage = try ServerStage(source)
        let early = request(stage)
        await stage.server.forget("a")
        let late = request(stage)
        source.open()
        #expect(await early.value?.status == .ok)
        #expect(await late.value?.status == .ok)
        #expect(source.asked == ["a", "a"])
        #expect(try await stage.get().status == .ok)
        #expect(source.asked == ["a", "a"])
    }

    @Test func encodingHoldsMemoryOfTheBudget() async throws {
        let budget = DecodingBudget(bytes: 100_000)
        let taken = Mutex<[Int]>([])
        let codec = LabelCodec(onEncode: { taken.withLock { $0.append(budget.taken) } })
        let source = SketchSource(["a": SketchCodec.bytes(10, 10)])
        let stage = try ServerStage(source, codec: codec, budget: budget)
        _ = try await stage.get("a", "orient")
        // The image, and as much again for encoding.
        #expect(taken.withLock(\.self) == [800])
    }

    @Test func imageThatDoesNotFitIntoTheBudgetTogetherWithItsEncodingIsRefused() async throws {
        let source = SketchSource(["a": SketchCodec.bytes(10, 10)])
        let stage = try ServerStage(source, budget: DecodingBudget(bytes: 799))
        #expect(try await stage.get("a", "orient").status == 502)
        #expect(stage.codec.encoded.isEmpty)
        let enough = try ServerStage(source, budget: DecodingBudget(bytes: 800))
        #expect(try await enough.get("a", "orient").status == .ok)
    }

    @Test(arguments: 0..<20)
    func everyOrderOfRequestsAndCancellationsLoadsEachImageAtMostOncePerWait(index: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let scheduler = DeterministicScheduler(seed: seed)
        let source = SketchSource(["a": SketchCodec.bytes(8, 4), "b": SketchCodec.bytes(8, 4)])
        let store = DictionaryStore()
        let stage = try ServerStage(source, store: store, timer: scheduler.timer, executor: scheduler.executor)
        let statuses = try await scheduler.run {
            await withTaskGroup(of: Int?.self) { group in
                for number in 0..<24 {
                    let address: ImageAddress = number % 2 == 0 ? "a" : "b"
                    group.addTask {
                        let request = Task(executorPreference: scheduler.executor) {
                            try await stage.get(address).status.code
                        }
                        if number % 3 == 2 {
                            await Task.yield()
                            request.cancel()
                        }
                        return try? await request.value
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(statuses.count == 24 && statuses.allSatisfy { $0 == 200 || $0 == 503 }, "seed \(seed)")
        #expect(statuses.filter { $0 == 200 }.count >= 16, "seed \(seed)")
        // A load is repeated only if all its requests were cancelled.
        #expect(stage.codec.encoded.count <= 2 && store.images.count == 2, "seed \(seed)")
        #expect(stage.errors.errors.isEmpty, "seed \(seed)")
    }
}
