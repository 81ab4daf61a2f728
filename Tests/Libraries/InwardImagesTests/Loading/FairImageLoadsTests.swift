import InwardCore
import TestSupport
import Testing

@testable import InwardImages

/// Tests that loads of one session do not starve those of another that shares the budget.
@Suite(.timeLimit(.minutes(5)))
struct FairImageLoadsTests {
    private static let crowd = (0..<1_000).map { ImageAddress("a\($0)") }

    private func source(isOpen: Bool) -> SketchSource {
        let addresses = Self.crowd + ["b", "c"]
        return SketchSource(
            Dictionary(uniqueKeysWithValues: addresses.map { ($0, SketchCodec.bytes(10, 10)) }),
            isOpen: isOpen
        )
    }

    private func loader(_ source: SketchSource, _ budget: DecodingBudget) -> ImageLoader {
        ImageLoader(source: source, codec: SketchCodec(), budget: budget, timer: .still)
    }

    @Test func otherSessionIsServedNextHoweverManyLoadsWait() async {
        let (source, budget) = (source(isOpen: false), DecodingBudget(transfers: 1))
        let (first, second) = (loader(source, budget), loader(source, budget))
        let loads = Self.crowd.map { address in Task.waiting { await first.load(address).result.outcome } }
        let other = Task.waiting { await second.load("b").result.outcome }
        #expect(source.asked == ["a0"])
        source.open()
        #expect(await other.value == "10×10")
        for load in loads { #expect(await load.value == "10×10") }
        #expect(source.asked.prefix(3) == ["a0", "b", "a1"])
        #expect(source.asked.count == 1_001)
    }

    @Test func unresponsiveHostsOfOneSessionDoNotBlockOthers() async {
        let (source, budget) = (source(isOpen: false), DecodingBudget(transfers: 8))
        let loaders = (0..<3).map { _ in loader(source, budget) }
        var loads = Self.crowd.prefix(100).map { address in Task.waiting { _ = await loaders[0].load(address) } }
        #expect(source.asked == Array(Self.crowd.prefix(4)))
        loads.append(Task.waiting { _ = await loaders[1].load("b") })
        loads.append(Task.waiting { _ = await loaders[2].load("c") })
        #expect(source.asked.suffix(2) == ["b", "c"])
        source.open()
        for load in loads { await load.value }
    }

    @Test func encodedImagesOfOneSessionLeaveMemoryForOthers() async {
        // Room for 4 encoded images, because the first ones are expected to have 1 MiB.
        let (source, budget) = (source(isOpen: false), DecodingBudget(bytes: 32 * 1_024 * 1_024))
        let (first, second) = (loader(source, budget), loader(source, budget))
        var loads = Self.crowd.prefix(10).map { address in Task.waiting { _ = await first.load(address) } }
        #expect(source.asked == ["a0", "a1"])
        loads.append(Task.waiting { _ = await second.load("b") })
        #expect(source.asked == ["a0", "a1", "b"])
        source.open()
        for load in loads { await load.value }
    }

    @Test func freedMemoryGoesToTheSessionThatHoldsTheLeast() async throws {
        let room = FairBudget(10)
        var held: [FairBudget.Reservation] = []
        for _ in 0..<2 { held.append(try #require(await room.reservation(of: 5, for: 1))) }
        let crowd = (0..<1_000).map { _ in Task.waiting { _ = await room.reservation(of: 5, for: 1) } }
        let other = Task.waiting { () -> Int? in
            let reservation = await room.reservation(of: 10, for: 2)
            return reservation.map { _ in room.taken }
        }
        held.removeLast()
        // The other party needs the whole budget, and no waiter of the crowd goes first.
        #expect(room.taken == 5)
        held.removeAll()
        #expect(await other.value == 10)
        for load in crowd { await load.value }
        #expect(room.taken == 0)
    }

    @Test func copiesOfALoaderCountAsOneParty() async {
        let (source, budget) = (source(isOpen: false), DecodingBudget(transfers: 1))
        let first = loader(source, budget)
        var copy = first
        copy.addPlugin(Grayscale())
        let second = loader(source, budget)
        let loads = [
            Task.waiting { _ = await first.load("a0") }, Task.waiting { [copy] in _ = await copy.load("a1") },
            Task.waiting { _ = await second.load("b") },
        ]
        source.open()
        for load in loads { await load.value }
        #expect(source.asked == ["a0", "b", "a1"])
    }
}
