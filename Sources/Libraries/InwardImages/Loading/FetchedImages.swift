import InwardCore
import Synchronization

/// The fetched images that somebody has yet to decode: whoever comes meanwhile takes them, and fetches nothing.
final class FetchedImages: Sendable {
    typealias Key = Versioned<ImageAddress>

    private struct Entry {
        weak var image: FetchedImage?
        let id: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// How many there are.
    var count: Int { state.withLock(\.entries.count) }

    /// The image that was fetched for a key, if it is there.
    func image(for key: Key) -> FetchedImage? { state.withLock { $0.entries[key]?.image } }

    /// Has an image be there for a key until nobody holds it any more.
    ///
    /// - Parameters:
    ///   - key: What it was fetched for.
    ///   - make: Makes the image, which calls what it is handed when nobody holds it any more.
    /// - Returns: the image.
    func add(for key: Key, _ make: (@escaping @Sendable () -> Void) -> FetchedImage) -> FetchedImage {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let image = make { [weak self] in self?.remove(key, id) }
        state.withLock { $0.entries[key] = Entry(image: image, id: id) }
        return image
    }

    /// It is told apart by its number, for whoever looked at the image in the lock might be the last to hold it.
    private func remove(_ key: Key, _ id: Int) {
        state.withLock { state in
            if state.entries[key]?.id == id { state.entries[key] = nil }
        }
    }
}

/// The bytes of an image, and what they say of it. It is there as long as somebody has yet to decode them.
final class FetchedImage: Sendable {
    let bytes: [UInt8]
    let isGenuine: Bool
    let header: ImageHeader
    /// When it is too old to be kept, as the timer of the cache tells the time.
    let expiry: Duration
    /// How long it took to fetch it.
    let duration: Duration
    private let place: EncodedByteBudget.Place
    private let onRelease: @Sendable () -> Void

    init(
        _ encoded: EncodedImage,
        header: ImageHeader,
        expiry: Duration,
        duration: Duration,
        place: EncodedByteBudget.Place,
        onRelease: @escaping @Sendable () -> Void
    ) {
        bytes = encoded.bytes
        isGenuine = encoded.isGenuine
        self.header = header
        self.expiry = expiry
        self.duration = duration
        self.place = place
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}

/// What came of asking for the bytes of an image.
struct ImageFetch: Sendable {
    let result: Result<FetchedImage, ImageError>
    let origin: ImageLoadReport.Origin

    /// What a report says of it.
    ///
    /// - Parameter waited: How long whoever reports has waited for it, which is told if it failed.
    /// - Returns: the step.
    func step(waited: Duration) -> ImageLoadReport.Step {
        switch result {
        case .success(let fetched):
            let bytes = fetched.bytes.count
            return ImageLoadReport.Step(name: "fetch", origin: origin, duration: fetched.duration, bytes: bytes)
        case .failure:
            return ImageLoadReport.Step(name: "fetch", origin: origin, duration: waited, bytes: 0)
        }
    }
}
