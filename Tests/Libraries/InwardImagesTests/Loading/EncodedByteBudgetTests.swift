import TestSupport
import Testing

@testable import InwardImages

@Suite(.timeLimit(.minutes(5)))
struct EncodedByteBudgetTests {
    private static let mebibyte = 1_024 * 1_024
    private let room = EncodedByteBudget(bytes: 4 * mebibyte)

    @Test func asManyAreFetchedAsHaveRoomAndTheNextOneWaits() async throws {
        var places: [EncodedByteBudget.Place] = []
        for _ in 0..<4 { places.append(try #require(await room.place())) }
        #expect(room.taken == 4 * Self.mebibyte)
        let waiting = Task.waiting { [room] in await room.place() != nil }
        places[0].settle(on: 3 * Self.mebibyte)
        #expect(room.taken == 6 * Self.mebibyte)
        places.removeAll()
        #expect(await waiting.value)
        #expect(room.taken == 0)
    }

    @Test func encodedImagesHaveAnEighthOfTheRoomOfDecodedOnes() async throws {
        let room = DecodingBudget(bytes: 800).fetchingRoom
        let place = try #require(await room.place())
        #expect(room.taken == 100)
        withExtendedLifetime(place) {}
    }

    @Test func whatImagesHaveBeenIsExpectedOfTheNext() async throws {
        for _ in 0..<200 {
            let place = try #require(await room.place())
            place.settle(on: 100)
        }
        var places: [EncodedByteBudget.Place] = []
        for _ in 0..<256 { places.append(try #require(await room.place())) }
        // The least that any counts.
        #expect(room.taken == 256 * 16 * 1_024)
        for place in places { place.settle(on: 2 * Self.mebibyte) }
        places.removeAll()
        let place = try #require(await room.place())
        #expect(room.taken > Self.mebibyte)
        place.settle(on: 1)
    }

    @Test func whoGivesUpTakesNothing() async throws {
        var places: [EncodedByteBudget.Place] = []
        for _ in 0..<4 { places.append(try #require(await room.place())) }
        let waiting = Task.waiting { [room] in await room.place() == nil }
        waiting.cancel()
        #expect(await waiting.value)
        places.removeAll()
        #expect(room.taken == 0)
    }

    @Test func aCallerWhoGivesUpLetsThoseBehindPass() async throws {
        let small = try #require(await room.place())
        let large = try #require(await room.place())
        large.settle(on: 4 * Self.mebibyte - 100_000)
        small.settle(on: 1)
        let tooLarge = Task.waiting { [room] in await room.place() == nil }
        // By now the next is expected to be as small as that.
        for _ in 0..<100 { small.settle(on: 1) }
        let behind = Task.waiting { [room] in await room.place() }
        #expect(room.taken == 4 * Self.mebibyte - 99_999)
        tooLarge.cancel()
        #expect(await tooLarge.value)
        #expect(room.taken == 4 * Self.mebibyte - 99_999 + 16 * 1_024)
        behind.cancel()
        _ = await behind.value
        withExtendedLifetime((small, large)) {}
    }

    @Test func noImageIsFetchedWhileOthersThatWaitTakeAllTheRoom() async {
        let addresses = (0..<3).map { ImageAddress("\($0)") }
        let source = SketchSource(Dictionary(uniqueKeysWithValues: addresses.map { ($0, SketchCodec.bytes(10, 10)) }))
        let budget = DecodingBudget(bytes: 800)
        let loader = ImageLoader(source: source, codec: SketchCodec(), budget: budget, timer: .still)
        var all = await budget.admission(of: 800)
        #expect(all != nil)
        let loads = addresses.map { address in Task.waiting { await loader.load(address).result.outcome } }
        #expect(source.asked == ["0"])
        all = nil
        for load in loads { #expect(await load.value == "10×10") }
        #expect(source.asked == addresses)
    }
}
