import TestSupport
import Testing

@testable import InwardImages

@Suite(.timeLimit(.minutes(5)))
struct EncodedByteBudgetTests {
    private static let mebibyte = 1_024 * 1_024
    private let room = EncodedByteBudget(bytes: 4 * mebibyte)
    /// Each reservation is for a party of its own.
    private let parties = Counter()

    @Test func asManyAreFetchedAsHaveRoomAndTheNextOneWaits() async throws {
        var reservations: [FairBudget.Reservation] = []
        for _ in 0..<4 { reservations.append(try #require(await room.reservation(for: parties.add()))) }
        #expect(room.taken == 4 * Self.mebibyte)
        let waiting = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) != nil }
        room.settle(reservations[0], on: 3 * Self.mebibyte)
        #expect(room.taken == 6 * Self.mebibyte)
        reservations.removeAll()
        #expect(await waiting.value)
        #expect(room.taken == 0)
    }

    @Test func eachImageMovesWhatIsExpectedByAnEighthOfTheDifference() async throws {
        let first = try #require(await room.reservation(for: parties.add()))
        room.settle(first, on: Self.mebibyte + 8 * 1_024)
        let second = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken == (Self.mebibyte + 8 * 1_024) + (Self.mebibyte + 1_024))
        withExtendedLifetime((first, second)) {}
    }

    @Test func encodedImagesHaveAnEighthOfTheRoomOfDecodedOnes() async throws {
        let room = DecodingBudget(bytes: 800).fetchingRoom
        let reservation = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken == 100)
        withExtendedLifetime(reservation) {}
    }

    @Test func whatImagesHaveBeenIsExpectedOfTheNext() async throws {
        for _ in 0..<200 {
            let reservation = try #require(await room.reservation(for: parties.add()))
            room.settle(reservation, on: 100)
        }
        var reservations: [FairBudget.Reservation] = []
        for _ in 0..<256 { reservations.append(try #require(await room.reservation(for: parties.add()))) }
        // The least that any counts.
        #expect(room.taken == 256 * 16 * 1_024)
        for reservation in reservations { room.settle(reservation, on: 2 * Self.mebibyte) }
        reservations.removeAll()
        let reservation = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken > Self.mebibyte)
        room.settle(reservation, on: 1)
    }

    @Test func whoGivesUpTakesNothing() async throws {
        var reservations: [FairBudget.Reservation] = []
        for _ in 0..<4 { reservations.append(try #require(await room.reservation(for: parties.add()))) }
        let waiting = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) == nil }
        waiting.cancel()
        #expect(await waiting.value)
        reservations.removeAll()
        #expect(room.taken == 0)
    }

    @Test func aCallerWhoGivesUpLetsThoseBehindPass() async throws {
        let small = try #require(await room.reservation(for: parties.add()))
        let large = try #require(await room.reservation(for: parties.add()))
        room.settle(large, on: 4 * Self.mebibyte - 100_000)
        room.settle(small, on: 1)
        let tooLarge = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) == nil }
        // By now the next is expected to be as small as that.
        for _ in 0..<100 { room.settle(small, on: 1) }
        let behind = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) }
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
        var all = await budget.decodingRoom.reservation(of: 800, for: 0)
        #expect(all != nil)
        let loads = addresses.map { address in Task.waiting { await loader.load(address).result.outcome } }
        #expect(source.asked == ["0"])
        all = nil
        for load in loads { #expect(await load.value == "10×10") }
        #expect(source.asked == addresses)
    }
}
