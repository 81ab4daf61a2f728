import TestSupport
import Testing

@testable import InwardImages

@Suite(.timeLimit(.minutes(5)))
struct EncodedByteBudgetTests {
    private static let mebibyte = 1_024 * 1_024
    private let room = EncodedByteBudget(bytes: 4 * mebibyte)
    /// Numbers the parties: each reservation belongs to a different one.
    private let parties = Counter()

    @Test func reservationWaitsWhenTheBudgetIsUsedUp() async throws {
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

    @Test func expectedSizeMovesByAnEighthOfTheDifference() async throws {
        let first = try #require(await room.reservation(for: parties.add()))
        room.settle(first, on: Self.mebibyte + 8 * 1_024)
        let second = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken == (Self.mebibyte + 8 * 1_024) + (Self.mebibyte + 1_024))
        withExtendedLifetime((first, second)) {}
    }

    @Test func encodedImagesGetAnEighthOfTheBudget() async throws {
        let room = DecodingBudget(bytes: 800).fetchingRoom
        let reservation = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken == 100)
        withExtendedLifetime(reservation) {}
    }

    @Test func expectedSizeFollowsRecentImages() async throws {
        for _ in 0..<200 {
            let reservation = try #require(await room.reservation(for: parties.add()))
            room.settle(reservation, on: 100)
        }
        var reservations: [FairBudget.Reservation] = []
        for _ in 0..<256 { reservations.append(try #require(await room.reservation(for: parties.add()))) }
        // The minimum reservation.
        #expect(room.taken == 256 * 16 * 1_024)
        for reservation in reservations { room.settle(reservation, on: 2 * Self.mebibyte) }
        reservations.removeAll()
        let reservation = try #require(await room.reservation(for: parties.add()))
        #expect(room.taken > Self.mebibyte)
        room.settle(reservation, on: 1)
    }

    @Test func cancelledWaiterReservesNothing() async throws {
        var reservations: [FairBudget.Reservation] = []
        for _ in 0..<4 { reservations.append(try #require(await room.reservation(for: parties.add()))) }
        let waiting = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) == nil }
        waiting.cancel()
        #expect(await waiting.value)
        reservations.removeAll()
        #expect(room.taken == 0)
    }

    @Test func cancelledWaiterLetsLaterWaitersPass() async throws {
        let small = try #require(await room.reservation(for: parties.add()))
        let large = try #require(await room.reservation(for: parties.add()))
        room.settle(large, on: 4 * Self.mebibyte - 100_000)
        room.settle(small, on: 1)
        let tooLarge = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) == nil }
        // Now the next image is expected to be this small.
        for _ in 0..<100 { room.settle(small, on: 1) }
        let later = Task.waiting { [room, parties] in await room.reservation(for: parties.add()) }
        #expect(room.taken == 4 * Self.mebibyte - 99_999)
        tooLarge.cancel()
        #expect(await tooLarge.value)
        #expect(room.taken == 4 * Self.mebibyte - 99_999 + 16 * 1_024)
        later.cancel()
        _ = await later.value
        withExtendedLifetime((small, large)) {}
    }

    @Test func noFetchStartsWhileUndecodedImagesUseUpTheBudget() async {
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
