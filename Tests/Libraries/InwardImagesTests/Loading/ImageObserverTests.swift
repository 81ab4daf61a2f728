import InwardCore
import Synchronization
import TestSupport
import Testing

@testable import InwardImages

/// Tests which events observers receive about loads and the budget.
@Suite(.timeLimit(.minutes(5)))
struct ImageObserverTests {
    /// An observer that records the end of loads and the changes of the budget.
    private final class Recorder: ImageObserver {
        private let log = Mutex<[String]>([])

        var events: [String] { log.withLock(\.self) }

        func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {
            let steps = load.report.steps.map(\.description).joined(separator: ", ")
            let error: ImageError? = if case .failure(let error) = load.result { error } else { nil }
            log.withLock { $0.append("\(address): \(error.map { "\($0.reason) after " } ?? "")\(steps)") }
        }

        func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status) {
            let event = "\(part): \(status.reservedBytes) of \(status.limit), \(status.waitingCount) wait"
            log.withLock { $0.append(event) }
        }
    }

    private let recorder = Recorder()
    private let source = SketchSource(["a": SketchCodec.bytes(8, 4)])

    @Test func endOfALoadIsReportedWithItsSteps() async throws {
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still, observer: recorder)
        _ = try await loader.loadImage(from: "a")
        _ = try await loader.loadImage(from: "a")
        _ = await loader.load("b")
        await loader.prefetch(["a"])
        #expect(
            recorder.events == [
                "a: fetch, decode, Orient", "a: Orient (memory)", "b: notFound after fetch, Orient",
                "a: Orient (memory)",
            ]
        )
    }

    /// An observer that wraps loads in a task-local value, and records where they run.
    private struct Surrounder: ImageObserver {
        @TaskLocal static var address: ImageAddress?
        let journal = Journal()

        func surroundLoad(_ address: ImageAddress, _ load: () async -> ImageLoad) async -> ImageLoad {
            journal.add("\(address) begins")
            let loaded = await Self.$address.withValue(address) { await load() }
            journal.add("\(address) has \(loaded.report.steps.count) steps")
            return loaded
        }

        func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {
            journal.add("\(address) ended \(Self.address == nil ? "outside" : "inside")")
        }
    }

    /// A source that records the load that it is called from.
    private struct SurroundedSource: ImageSource {
        let journal: Journal

        func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
            journal.add("\(address) is fetched for \(Surrounder.address.map { "\($0)" } ?? "no load")")
            return EncodedImage(SketchCodec.bytes(8, 4))
        }
    }

    @Test func loadRunsInsideTheObserver() async throws {
        let surrounder = Surrounder()
        let source = SurroundedSource(journal: surrounder.journal)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still, observer: surrounder)
        _ = try await loader.loadImage(from: "a")
        #expect(
            surrounder.journal.entries == [
                "a begins", "a is fetched for a", "a has 3 steps", "a ended outside",
            ]
        )
    }

    @Test func everyPrefetchedImageLoadsInsideTheObserver() async {
        let surrounder = Surrounder()
        let source = SurroundedSource(journal: surrounder.journal)
        let loader = ImageLoader(source: source, codec: SketchCodec(), timer: .still, observer: surrounder)
        await loader.prefetch(["a", "b"], atOnce: 1)
        #expect(
            surrounder.journal.entries == [
                "a begins", "a is fetched for a", "a has 3 steps", "a ended outside",
                "b begins", "b is fetched for b", "b has 3 steps", "b ended outside",
            ]
        )
    }

    @Test func everyChangeOfTheBudgetIsReported() async {
        let budget = DecodingBudget(bytes: 1_000, observer: recorder)
        var first = await budget.decodingRoom.reservation(of: 600, for: 0)
        let second = Task.waiting { await budget.decodingRoom.reservation(of: 500, for: 0) != nil }
        let third = Task.waiting { await budget.decodingRoom.reservation(of: 100, for: 0) != nil }
        third.cancel()
        #expect(await third.value == false)
        first = nil
        #expect(await second.value)
        #expect(first == nil)
        #expect(
            recorder.events == [
                "decoded: 600 of 1000, 0 wait", "decoded: 600 of 1000, 1 wait", "decoded: 600 of 1000, 2 wait",
                "decoded: 600 of 1000, 1 wait", "decoded: 500 of 1000, 0 wait", "decoded: 0 of 1000, 0 wait",
            ]
        )
    }

    @Test func encodedImagesAreReportedAsASeparatePart() async {
        let budget = DecodingBudget(bytes: 80_000, observer: recorder)
        let reservation = await budget.fetchingRoom.reservation(for: 0)
        if let reservation { budget.fetchingRoom.settle(reservation, on: 50) }
        #expect(recorder.events.prefix(2) == ["encoded: 10000 of 10000, 0 wait", "encoded: 50 of 10000, 0 wait"])
        _ = budget.decodingRoom.overdraft(of: 90_000, for: 0)
        #expect(recorder.events.suffix(2) == ["decoded: 90000 of 80000, 0 wait", "decoded: 0 of 80000, 0 wait"])
    }
}
