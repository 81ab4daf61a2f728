public import InwardCore
import Synchronization

/// Keeps images in memory for a time, the least used going first; and also what the bytes at an address say of the image
/// there, and that there is nothing.
///
/// It can be handed to several loaders, whose images then share its room and nothing else: what one loader keeps, no other
/// finds, unless it is a copy. An image that would take more than a quarter of the room is not kept.
public final class ImageCache: Sendable {
    /// Something that is kept, and when it is too old, as the timer of the cache tells the time.
    struct Kept<Value: Sendable>: Sendable {
        let value: Value
        let expiry: Duration
    }

    private struct Key<Base: Hashable & Sendable>: Hashable {
        let partition: Int
        let base: Base
    }

    private struct State {
        var images: SieveCache<Key<ImageKey>, Kept<Image>>
        var headers = SieveCache<Key<ImageAddress>, Kept<Result<ImageHeader, ImageError>>>(
            limit: ImageCache.maximumHeaders
        )
        var lastPartition = 0
        /// What was to be forgotten in each partition.
        var versions: [Int: InvalidationGenerations] = [:]
    }

    private static let maximumHeaders = 4_096
    /// About what it takes to keep an image beside its pixels and its address.
    private static let overhead = 512

    private let lifetime: Duration
    private let absenceLifetime: Duration
    private let timer: TimerService
    private let state: Mutex<State>

    /// Makes a cache.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes the images may take together, with what keeping them takes; 0 to keep none.
    ///   - lifetime: How long an image is kept. Then it is fetched again.
    ///   - absenceLifetime: How long it is remembered that there is nothing at an address. Other failures are not.
    ///   - timer: What tells the time.
    public init(
        bytes: Int = 64 * 1_024 * 1_024,
        lifetime: Duration = .seconds(300),
        absenceLifetime: Duration = .seconds(10),
        timer: TimerService = .continuous
    ) {
        self.lifetime = bytes > 0 ? lifetime : .zero
        self.absenceLifetime = bytes > 0 ? absenceLifetime : .zero
        self.timer = timer
        state = Mutex(State(images: SieveCache(limit: bytes)))
    }

    /// How many bytes the images take, with what keeping them takes.
    public var bytes: Int { state.withLock(\.images.cost) }

    func makePartition() -> Int {
        state.withLock { state in
            state.lastPartition += 1
            state.versions[state.lastPartition] = InvalidationGenerations()
            return state.lastPartition
        }
    }

    func closePartition(_ partition: Int) {
        forget(nil, in: partition)
        state.withLock { $0.versions[partition] = nil }
    }

    /// What is learned of an address from before it was to be forgotten is not kept: whoever is about to learn something takes
    /// the version first, and keeps what it learned under it.
    func version(of address: ImageAddress, in partition: Int) -> Int {
        state.withLock { $0.versions[partition]?.count(for: address) ?? 0 }
    }

    /// When an image that is fetched now is too old.
    var expiry: Duration { timer.now + lifetime }

    func image(for key: ImageKey, in partition: Int) -> Kept<Image>? {
        current(state.withLock { $0.images.value(for: Key(partition: partition, base: key)) })
    }

    func header(of address: ImageAddress, in partition: Int) -> Kept<Result<ImageHeader, ImageError>>? {
        current(state.withLock { $0.headers.value(for: Key(partition: partition, base: address)) })
    }

    func keep(_ image: Kept<Image>, for key: ImageKey, in partition: Int, since version: Int) {
        guard lifetime > .zero else { return }
        let cost = image.value.size.byteCount + key.address.rawValue.utf8.count + Self.overhead
        // What goes is let go outside of the lock.
        _ = state.withLock { state in
            guard state.versions[partition]?.count(for: key.address) == version, cost <= state.images.limit / 4 else {
                return [image]
            }
            return state.images.insert(image, for: Key(partition: partition, base: key), cost: cost)
        }
    }

    func keep(_ header: ImageHeader, of address: ImageAddress, in partition: Int, since version: Int) {
        keep(.success(header), lifetime, of: address, in: partition, since: version)
    }

    /// Remembers that there is nothing at an address, if that is what an error says.
    func keep(_ error: ImageError, of address: ImageAddress, in partition: Int, since version: Int) {
        guard error.reason == .notFound else { return }
        keep(.failure(error), absenceLifetime, of: address, in: partition, since: version)
    }

    private func keep(
        _ header: Result<ImageHeader, ImageError>,
        _ lifetime: Duration,
        of address: ImageAddress,
        in partition: Int,
        since version: Int
    ) {
        guard lifetime > .zero else { return }
        let kept = Kept(value: header, expiry: timer.now + lifetime)
        state.withLock { state in
            guard state.versions[partition]?.count(for: address) == version else { return }
            state.headers.insert(kept, for: Key(partition: partition, base: address), cost: 1)
        }
    }

    /// Forgets what is kept of an address in a partition, or all in it.
    ///
    /// - Complexity: O(n) in how much is kept in all partitions.
    func forget(_ address: ImageAddress?, in partition: Int) {
        _ = state.withLock { state in
            state.versions[partition]?.add(address)
            _ = state.headers.removeAll { key, _ in
                key.partition == partition && (address == nil || key.base == address)
            }
            return state.images.removeAll { key, _ in
                key.partition == partition && (address == nil || key.base.address == address)
            }
        }
    }

    private func current<Value>(_ kept: Kept<Value>?) -> Kept<Value>? {
        guard let kept, timer.now < kept.expiry else { return nil }
        return kept
    }
}

/// Something of a load, and what was forgotten before the load began: those who differ in that share nothing.
struct Versioned<Base: Hashable & Sendable>: Hashable, Sendable {
    let base: Base
    let version: Int
}

/// How often each address was to be forgotten. Some addresses are counted together, so that it takes no more room for more of
/// them: then one is forgotten too often, and never too seldom.
struct InvalidationGenerations {
    private static let groups = 256

    private var all = 0
    private var counts: [Int: Int] = [:]

    /// How often an address was to be forgotten, alone or with all others.
    func count(for address: ImageAddress) -> Int { all + counts[Self.group(of: address), default: 0] }

    /// Counts an address, or all of them.
    mutating func add(_ address: ImageAddress?) {
        if let address { counts[Self.group(of: address), default: 0] += 1 } else { all += 1 }
    }

    private static func group(of address: ImageAddress) -> Int { address.hashValue & (groups - 1) }
}
