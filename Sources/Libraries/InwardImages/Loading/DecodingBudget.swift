import Synchronization

/// A memory budget for the images that are being decoded and processed.
///
/// Loads wait for memory in first-in-first-out order. An image that needs more than the whole budget is rejected.
/// Several loaders can share a budget.
///
/// In addition, encoded images that are being fetched or are waiting for decoding may use an eighth of the budget. No
/// other image is fetched while that is used up. The size of an image is known only after it is fetched, so a burst of
/// unexpectedly large images can exceed this part at first.
public final class DecodingBudget: Sendable {
    /// The budget for encoded images that have not been decoded yet.
    let fetchingRoom: EncodedByteBudget
    /// The budget for images that are being decoded and processed.
    let decodingRoom: ByteBudget

    /// Creates a budget.
    ///
    /// - Parameter bytes: The number of bytes. Negative numbers count as 0.
    public init(bytes: Int = 512 * 1_024 * 1_024) {
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8)
        decodingRoom = ByteBudget(bytes: bytes)
    }

    /// The total number of bytes.
    public var limit: Int { decodingRoom.limit }
    /// The number of reserved bytes.
    public var taken: Int { decodingRoom.taken }

    /// Returns why an image that needs this many bytes is rejected, as the end of a sentence, or `nil` if it fits.
    func refusal(of bytes: Int, for header: ImageHeader) -> String? {
        guard bytes > limit else { return nil }
        let work = bytes > header.bytes(reducedBy: 1) ? "decode and process" : "decode"
        return "is \(header.size) and takes \(bytes) bytes to \(work), more than the \(limit) allowed"
    }
}

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
