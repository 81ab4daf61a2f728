import InwardCore
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
    /// - Parameters:
    ///   - bytes: The number of bytes. Negative numbers count as 0.
    ///   - observer: The observer of the budget; `nil` for none, which has no overhead.
    public init(bytes: Int = 512 * 1_024 * 1_024, observer: (any ImageObserver)? = nil) {
        func telling(of part: Part) -> (@Sendable (Status) -> Void)? {
            guard let observer else { return nil }
            return { status in observer.budgetChanged(part, status) }
        }
        fetchingRoom = EncodedByteBudget(bytes: bytes / 8, noteChange: telling(of: .encoded))
        decodingRoom = ByteBudget(bytes: bytes, noteChange: telling(of: .decoded))
    }

    /// A part of the budget.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// Encoded images that are being fetched, or that wait for their decoding.
        case encoded
        /// Images that are being decoded and processed.
        case decoded
    }

    /// What is reserved of a part of the budget, and how many loads wait for it.
    public struct Status: Hashable, Sendable {
        /// The total number of bytes.
        public let limit: Int
        /// The number of reserved bytes.
        public let reservedBytes: Int
        /// The number of loads that wait.
        public let waitingCount: Int

        /// Creates a status.
        ///
        /// - Parameters:
        ///   - limit: The total number of bytes.
        ///   - reservedBytes: The number of reserved bytes.
        ///   - waitingCount: The number of loads that wait.
        public init(limit: Int, reservedBytes: Int, waitingCount: Int) {
            self.limit = limit
            self.reservedBytes = reservedBytes
            self.waitingCount = waitingCount
        }
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

    init(bytes: Int, noteChange: (@Sendable (DecodingBudget.Status) -> Void)? = nil) {
        room = ByteBudget(bytes: bytes, noteChange: noteChange)
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

/// A number of bytes of memory, for which callers wait in first-in-first-out order.
final class ByteBudget: Sendable {
    /// A reservation of memory. It is returned to the budget when the last reference is released.
    final class Reservation: Sendable {
        private let bytes: Mutex<Int>
        private let budget: ByteBudget

        fileprivate init(_ bytes: Int, of budget: ByteBudget) {
            self.bytes = Mutex(bytes)
            self.budget = budget
        }

        deinit { budget.giveBack(bytes.withLock(\.self)) }

        /// Changes the number of reserved bytes at once, even if that exceeds the budget.
        func resize(to count: Int) {
            let excess = bytes.withLock { bytes in
                defer { bytes = count }
                return bytes - count
            }
            budget.giveBack(excess)
        }
    }

    private struct Waiter {
        let bytes: Int
        let promise: Promise<Reservation>
    }

    /// The total number of bytes.
    let limit: Int
    private let queue: Mutex<WeightedSemaphore<Waiter>>
    private let noteChange: (@Sendable (DecodingBudget.Status) -> Void)?
    private let changes = ChangeReport()

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes. Negative numbers count as 0.
    ///   - noteChange: Called with the status after each change; `nil` for nobody.
    init(bytes: Int, noteChange: (@Sendable (DecodingBudget.Status) -> Void)? = nil) {
        self.noteChange = noteChange
        let semaphore = WeightedSemaphore<Waiter>(limit: bytes)
        limit = semaphore.limit
        queue = Mutex(semaphore)
    }

    /// The number of reserved bytes.
    var taken: Int { queue.withLock(\.taken) }

    /// What is reserved, and how many wait.
    var status: DecodingBudget.Status {
        queue.withLock {
            DecodingBudget.Status(limit: $0.limit, reservedBytes: $0.taken, waitingCount: $0.waitingCount)
        }
    }

    /// Waits for a reservation, and returns `nil` if the task is cancelled first. `bytes` must not exceed the limit,
    /// because the wait would never end.
    func reservation(of bytes: Int) async -> Reservation? {
        let waiting = queue.withLock { $0.take(bytes, orWait: Waiter(bytes: bytes, promise: Promise())) }
        tellOfChange()
        guard let waiting else { return Reservation(bytes, of: self) }
        // Neither fetching nor decoding has a deadline of its own, because the loads that share it have different ones.
        if case .fulfilled(let reservation) = await waiting.waiter.promise.value(until: nil) { return reservation }
        admit(queue.withLock { $0.leave(waiting.id) })
        return nil
    }

    /// Returns a reservation at once, even if it exceeds the budget. No other reservation is granted until the budget
    /// recovers.
    ///
    /// Use it if you already hold a reservation. Two holders that wait for more would deadlock.
    func overdraft(of bytes: Int) -> Reservation {
        queue.withLock { $0.overdraw(bytes) }
        tellOfChange()
        return Reservation(bytes, of: self)
    }

    private func giveBack(_ bytes: Int) {
        admit(queue.withLock { $0.giveBack(bytes) })
    }

    private func tellOfChange() {
        guard let noteChange else { return }
        changes.tell { noteChange(status) }
    }

    /// Grants reservations to waiters. If a waiter has left in the meantime, its reservation is released at once.
    private func admit(_ waiters: [Waiter]) {
        tellOfChange()
        for waiter in waiters { waiter.promise.fulfill(Reservation(waiter.bytes, of: self)) }
    }
}

/// A first-in-first-out weighted semaphore.
///
/// A small request waits behind a large one, which would otherwise starve.
struct WeightedSemaphore<Waiter> {
    private struct Entry {
        let id: Int
        let amount: Int
        let waiter: Waiter
    }

    let limit: Int
    private(set) var taken = 0
    private var waiting: [Entry] = []
    private var nextID = 0

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// The number of waiters.
    var waitingCount: Int { waiting.count }

    /// Takes an amount if it is available and there are no waiters. Otherwise adds a waiter and returns it with its
    /// identifier.
    mutating func take(_ amount: Int, orWait waiter: @autoclosure () -> Waiter) -> (id: Int, waiter: Waiter)? {
        if waiting.isEmpty, amount <= limit - taken {
            taken += amount
            return nil
        }
        nextID += 1
        let entry = Entry(id: nextID, amount: amount, waiter: waiter())
        waiting.append(entry)
        return (entry.id, entry.waiter)
    }

    /// Takes an amount even if it is not available, ahead of all waiters.
    mutating func overdraw(_ amount: Int) {
        taken += amount
    }

    /// Returns an amount to the semaphore.
    ///
    /// - Returns: The waiters that are now admitted, in order.
    mutating func giveBack(_ amount: Int) -> [Waiter] {
        taken -= amount
        return admitted()
    }

    /// Removes a waiter.
    ///
    /// - Returns: The waiters behind it that are now admitted, in order.
    mutating func leave(_ id: Int) -> [Waiter] {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return [] }
        waiting.remove(at: index)
        return admitted()
    }

    private mutating func admitted() -> [Waiter] {
        var admitted: [Waiter] = []
        for entry in waiting {
            guard entry.amount <= limit - taken else { break }
            taken += entry.amount
            admitted.append(entry.waiter)
        }
        waiting.removeFirst(admitted.count)
        return admitted
    }
}

/// Limits for untrusted images.
public struct ImageLimits: Hashable, Sendable {
    /// The maximum number of bytes of an encoded image.
    public var encodedBytes: Int
    /// The maximum number of stored pixels.
    public var pixels: Int
    /// The maximum length of a side, in pixels.
    public var side: Int
    /// The maximum time to decode an image.
    public var decodingTime: Duration

    /// Creates limits. By default, an image may have 32 MiB encoded, 50 megapixels, 16,384 pixels per side, and 30
    /// seconds of decoding time.
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

    /// Returns why an image is rejected, as the end of a sentence, or `nil` if it is allowed.
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
