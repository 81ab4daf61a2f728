import InwardCore
import Synchronization

/// A limit for the memory of images that are being decoded, processed and encoded, and for the number of concurrent fetches.
///
/// ```swift
/// let budget = DecodingBudget(bytes: 256 * 1_024 * 1_024, transfers: 32)
/// let ada = ImageLoader(source: source, codec: codec, budget: budget)
/// let bob = ImageLoader(source: source, codec: codec, budget: budget)
/// ```
///
/// Loaders that share a budget get fair shares. Freed memory goes to the waiting loader that holds the least. Within a loader,
/// loads are served in first-in-first-out order. A loader and its copies count as one, so create one loader for each session,
/// and copy it within the session. An image that needs more than the whole budget is rejected.
///
/// Each fetch needs a permit. Permits are granted in the same way, with a reserve: a loader gets a second or later permit only
/// if at least as many permits stay free as the loader then holds. So hosts that do not answer cannot block other loaders.
///
/// Encoded images have a memory limit of their own: an eighth of `bytes`, in addition to the budget. An image counts from the
/// start of its fetch until it is decoded. No fetch starts while this memory is used up. The size of an image is known only
/// after it is fetched, so a burst of unexpectedly large images can exceed the limit at first.
public final class DecodingBudget: Sendable {
    /// The permits for concurrent fetches.
    let transfers: FairBudget
    /// The budget for encoded images that have not been decoded yet.
    let fetchingRoom: EncodedByteBudget
    /// The budget for images that are being decoded and processed.
    let decodingRoom: FairBudget
    private let lastParty = Atomic(0)

    /// Creates a budget.
    ///
    /// If the image source has a concurrency limit of its own, such as that of an upstream policy, set it to at least
    /// `transfers`. Requests that wait for the source are served in order of arrival, which is not fair to all loaders.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes for images that are being decoded and processed. Negative numbers count as 0.
    ///   - transfers: The maximum number of concurrent fetches, at least 1. A single loader gets at most half of them, two
    ///     loaders a third each, and so on. A loader without a permit gets one whenever one is free.
    ///   - observer: The observer of the budget, or `nil` for none.
    public init(
        bytes: Int = 512 * 1_024 * 1_024,
        transfers: Int = 64,
        observer: (any ImageObserver)? = nil
    ) {
        func reporter(of part: Part) -> (@Sendable (Status) -> Void)? {
            guard let observer else { return nil }
            return { status in observer.budgetChanged(part, status) }
        }
        self.transfers = FairBudget(max(1, transfers), leavingRoom: true)
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8, noteChange: reporter(of: .encoded))
        decodingRoom = FairBudget(bytes, noteChange: reporter(of: .decoded))
    }

    /// A part of the budget.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// Encoded images that are being fetched or wait to be decoded.
        case encoded
        /// Images that are being decoded and processed.
        case decoded
    }

    /// The reserved memory of a part of the budget, and the number of loads that wait for it.
    ///
    /// ```swift
    /// struct BudgetLogger: ImageObserver {
    ///     func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status) {
    ///         guard status.waitingCount > 0 else { return }
    ///         print("\(part): \(status.reservedBytes) of \(status.limit) bytes, \(status.waitingCount) loads wait")
    ///     }
    /// }
    /// ```
    public struct Status: Hashable, Sendable {
        /// The total number of bytes.
        public let limit: Int
        /// The number of reserved bytes.
        public let reservedBytes: Int
        /// The number of waiting loads.
        public let waitingCount: Int

        /// Creates a status.
        ///
        /// - Parameters:
        ///   - limit: The total number of bytes.
        ///   - reservedBytes: The number of reserved bytes.
        ///   - waitingCount: The number of waiting loads.
        public init(limit: Int, reservedBytes: Int, waitingCount: Int) {
            self.limit = limit
            self.reservedBytes = reservedBytes
            self.waitingCount = waitingCount
        }
    }

    /// Returns an identifier for a new party: a loader with its copies.
    func addParty() -> Int { lastParty.add(1, ordering: .relaxed).newValue }

    /// The total number of bytes for images that are being decoded and processed.
    public var limit: Int { decodingRoom.limit }
    /// The number of bytes of ``limit`` that are reserved.
    public var taken: Int { decodingRoom.taken }

    /// Returns why an image that needs this many bytes is rejected, as the rest of a sentence, or `nil` if it fits.
    func refusal(of bytes: Int, for header: ImageHeader) -> String? {
        guard bytes > limit else { return nil }
        let work = bytes > header.bytes(reducedBy: 1) ? "decode and process" : "decode"
        return "is \(header.size) and takes \(bytes) bytes to \(work), more than the \(limit) allowed"
    }
}

/// A memory budget for encoded images, from before the fetch until they are decoded. While it is used up, no fetch starts.
/// Otherwise a burst of requests would hold all its encoded images in memory at once.
///
/// The size of an image is known only after it is fetched. Until then, the budget reserves the average size of recent images.
final class EncodedByteBudget: Sendable {
    /// The size that is reserved for the first image, and the minimum reservation.
    private static let (firstExpected, leastExpected) = (1_024 * 1_024, 16 * 1_024)
    /// The weight of the moving average: each image moves it by one eighth of the difference.
    private static let inertia = 8

    private let room: FairBudget
    private let expected: Mutex<Int>

    init(bytes: Int, noteChange: (@Sendable (DecodingBudget.Status) -> Void)? = nil) {
        // A reservation is held while bytes arrive, which can take a long time. So a loader must leave as much memory free as it
        // holds, as with permits for fetches.
        room = FairBudget(bytes, leavingRoom: true, noteChange: noteChange)
        expected = Mutex(min(Self.firstExpected, room.limit))
    }

    /// The number of reserved bytes.
    var taken: Int { room.taken }

    /// Waits for a reservation for one image, and returns `nil` if the task is cancelled first.
    func reservation(for party: Int) async -> FairBudget.Reservation? {
        await room.reservation(of: min(expected.withLock(\.self), room.limit), for: party)
    }

    /// Resizes a reservation to the actual size of the fetched image.
    func settle(_ reservation: FairBudget.Reservation, on count: Int) {
        expected.withLock { $0 = max(Self.leastExpected, $0 + (count - $0) / Self.inertia) }
        reservation.resize(to: count)
    }
}

/// Limits for untrusted images. An image that exceeds them fails with ``ImageError/Reason/tooLarge``, or with
/// ``ImageError/Reason/timedOut`` if it takes too long to decode.
///
/// ```swift
/// let limits = ImageLimits(encodedBytes: 8 * 1_024 * 1_024, pixels: 20_000_000)
/// let loader = ImageLoader(source: source, codec: codec, limits: limits)
/// ```
public struct ImageLimits: Hashable, Sendable {
    /// The maximum number of bytes of an encoded image.
    public var encodedBytes: Int
    /// The maximum number of stored pixels.
    public var pixels: Int
    /// The maximum length of a side, in pixels.
    public var side: Int
    /// The maximum time to decode an image, and to encode one for ``ImageLoader/loadEncodedImage(from:as:)``.
    public var decodingTime: Duration

    /// Creates limits. The defaults are 32 MiB of encoded data, 50 megapixels, 16,384 pixels per side, and 30 seconds of
    /// decoding.
    public init(
        encodedBytes: Int = 32 * 1_024 * 1_024,
        pixels: Int = 50_000_000,
        side: Int = 16_384,
        decodingTime: Duration = .seconds(30)
    ) {
        self.encodedBytes = encodedBytes
        self.pixels = pixels
        self.side = side
        self.decodingTime = decodingTime
    }

    /// Returns why an image is rejected, as the rest of a sentence, or `nil` if it is allowed.
    func refusal(of header: ImageHeader) -> String? {
        if header.size.longerSide > side {
            return "is \(header.size), and no side may have more than \(side) pixels"
        }
        if header.size.pixelCount > pixels {
            return "is \(header.size), which is more than the \(pixels) pixels allowed"
        }
        return nil
    }
}
