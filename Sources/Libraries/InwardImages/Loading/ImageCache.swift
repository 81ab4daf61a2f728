public import InwardCore
import Synchronization

/// An in-memory cache that keeps decoded images for a limited time. It also remembers headers, and which images do not exist.
///
/// ```swift
/// let cache = ImageCache(bytes: 128 * 1_024 * 1_024, lifetime: .seconds(60))
/// let loader = ImageLoader(source: source, codec: codec, cache: cache)
/// ```
///
/// Several loaders can share a cache. They share its memory but not its contents: a loader finds only images that it or its
/// copies have cached. When the cache is full, it evicts images that were not used recently. An image that needs more than a
/// quarter of the cache is not cached.
public final class ImageCache: Sendable {
    /// A cached value and its expiry, in the time of the cache's timer.
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
        /// The invalidation generations of each partition.
        var versions: [Int: InvalidationGenerations] = [:]
    }

    private static let maximumHeaders = 4_096
    /// The approximate memory that a cached image needs in addition to its pixels and its address.
    private static let overhead = 512

    private let lifetime: Duration
    private let absenceLifetime: Duration
    private let timer: TimerService
    private let state: Mutex<State>

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - bytes: The maximum number of bytes that the images may use, including overhead. Use 0 to cache nothing.
    ///   - lifetime: How long an image is cached. After that, it is fetched again.
    ///   - absenceLifetime: How long the cache remembers that an image does not exist. Other failures are not cached.
    ///   - timer: The timer service that measures lifetimes.
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

    /// The number of bytes that the cached images use, including overhead.
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

    /// Returns the current invalidation generation of an address.
    ///
    /// Read it before a load starts, and pass it when you cache the result. If the address was invalidated in between, the
    /// result is not cached.
    func version(of address: ImageAddress, in partition: Int) -> Int {
        state.withLock { $0.versions[partition]?.count(for: address) ?? 0 }
    }

    /// The expiry of an image whose fetch starts now.
    var expiry: Duration { timer.now + lifetime }

    func image(for key: ImageKey, in partition: Int) -> Kept<Image>? {
        current(state.withLock { $0.images.value(for: Key(partition: partition, base: key)) })
    }

    func header(of address: ImageAddress, in partition: Int) -> Kept<Result<ImageHeader, ImageError>>? {
        current(state.withLock { $0.headers.value(for: Key(partition: partition, base: address)) })
    }

    func keep(_ image: Kept<Image>, for key: ImageKey, in partition: Int, since version: Int) {
        guard lifetime > .zero else { return }
        let keyBytes = key.address.rawValue.utf8.count + key.plugins.outlineBytes
        let cost = image.value.size.byteCount + keyBytes + Self.overhead
        // Evicted images are released outside the lock.
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

    /// Caches the error if its reason is `notFound`.
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

    /// Removes what is cached for an address, or everything, in a partition.
    ///
    /// - Complexity: O(n) in the number of values in all partitions.
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

/// Part of a load, together with its invalidation generation. Loads of different generations share nothing.
struct Versioned<Base: Hashable & Sendable>: Hashable, Sendable {
    let base: Base
    let version: Int
}

/// The number of invalidations of each address. To bound memory, addresses share counters by hash, so an invalidation can also
/// affect other addresses, but is never missed.
struct InvalidationGenerations {
    private static let groups = 256

    private var all = 0
    private var counts: [Int: Int] = [:]

    /// Returns how often an address was invalidated, alone or together with all others.
    func count(for address: ImageAddress) -> Int { all + counts[Self.group(of: address), default: 0] }

    /// Counts an invalidation of one address, or of all.
    mutating func add(_ address: ImageAddress?) {
        if let address { counts[Self.group(of: address), default: 0] += 1 } else { all += 1 }
    }

    private static func group(of address: ImageAddress) -> Int { address.hashValue & (groups - 1) }
}

/// A port for a cache of processed images in encoded form, such as a disk cache.
///
/// ```swift
/// actor FinishedImages: ImageDataCache {
///     private var images: [ImageKey: [UInt8]] = [:]
///
///     func bytes(of image: ImageKey) -> [UInt8]? { images[image] }
///     func keep(_ bytes: [UInt8], of image: ImageKey) { images[image] = bytes }
///     func forget(_ address: ImageAddress?) {
///         images = images.filter { address != nil && $0.key.address != address }
///     }
/// }
///
/// let loader = ImageLoader(source: source, codec: codec, store: FinishedImages(), encoding: .jpeg())
/// ```
///
/// A cache belongs to one loader and its copies. The loader looks up an image before it fetches, and offers each finished image
/// to the cache. The implementation decides what it keeps, where, and for how long. Loads wait for these calls.
public protocol ImageDataCache: Sendable {
    /// Returns the cached bytes of an image, or `nil` if there are none.
    func bytes(of image: ImageKey) async -> [UInt8]?

    /// Offers the bytes of an image to the cache.
    func keep(_ bytes: [UInt8], of image: ImageKey) async

    /// Removes all images that came from an address, or all images.
    func forget(_ address: ImageAddress?) async
}

/// The cache key of an image: its address, and the processing that was applied.
///
/// ```swift
/// func shouldKeep(_ image: ImageKey) -> Bool {
///     image.address.rawValue.hasPrefix("avatars/") && image.plugins.contains { $0 is Circle }
/// }
/// ```
///
/// Loaders create keys. A key's hash value differs in each process, and keys have no encoded form. So a cache on disk cannot
/// find its images after a restart, and should start empty.
public struct ImageKey: Hashable, Sendable {
    /// The address that the image came from.
    public let address: ImageAddress
    /// The plugins that were applied.
    public let plugins: PluginCollection<ImageResult>
    /// The reduction that the image was decoded with, or `nil` if the plugins determine it.
    let reduction: Int?
}
