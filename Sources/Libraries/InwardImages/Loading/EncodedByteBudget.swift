import Synchronization

/// A memory budget for encoded images, from before the fetch until they are decoded. While it is used up, no fetch
/// starts until some images are decoded. Otherwise a burst of requests would hold all its encoded images in memory at
/// once.
///
/// The size of an image is known only after it is fetched. Until then, the budget reserves the average size of recent
/// images.
final class EncodedByteBudget: Sendable {
    /// The size that is reserved for the first image, and the minimum reservation.
    private static let (firstExpected, leastExpected) = (1_024 * 1_024, 16 * 1_024)
    /// The weight of the moving average: each image moves it by one eighth of the difference.
    private static let inertia = 8

    private let room: ByteBudget
    private let expected: Mutex<Int>

    init(bytes: Int) {
        room = ByteBudget(bytes: bytes)
        expected = Mutex(min(Self.firstExpected, room.limit))
    }

    /// The number of reserved bytes.
    var taken: Int { room.taken }

    /// Waits for a reservation for one image, and returns `nil` if the task is cancelled first.
    func reservation() async -> ByteBudget.Reservation? {
        await room.reservation(of: min(expected.withLock(\.self), room.limit))
    }

    /// Adjusts a reservation to the actual size of the fetched image.
    func settle(_ reservation: ByteBudget.Reservation, on count: Int) {
        expected.withLock { $0 = max(Self.leastExpected, $0 + (count - $0) / Self.inertia) }
        reservation.resize(to: count)
    }
}
