import InwardCore
import Synchronization

/// The fetched images that are waiting to be decoded. Later loads use them instead of fetching again.
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

    /// The number of images.
    var count: Int { state.withLock(\.entries.count) }

    /// Returns the fetched image for a key, if there is one.
    func image(for key: Key) -> FetchedImage? { state.withLock { $0.entries[key]?.image } }

    /// Makes an image available for a key until its last reference is released.
    ///
    /// - Parameters:
    ///   - key: The key that the image was fetched for.
    ///   - make: Creates the image. The image must call the closure that it receives when it is released.
    /// - Returns: The image.
    func add(for key: Key, _ make: (@escaping @Sendable () -> Void) -> FetchedImage) -> FetchedImage {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let image = make { [weak self] in self?.remove(key, id) }
        state.withLock { $0.entries[key] = Entry(image: image, id: id) }
        return image
    }

    /// Removes an entry by its identifier. Comparing images instead would create a strong reference under the lock. If all
    /// others were released meanwhile, the image would be deinitialized under the lock, and would call this method again.
    private func remove(_ key: Key, _ id: Int) {
        state.withLock { state in
            if state.entries[key]?.id == id { state.entries[key] = nil }
        }
    }
}

/// An encoded image and its header. It exists only while a load still needs to decode it.
final class FetchedImage: Sendable {
    let bytes: [UInt8]
    let isGenuine: Bool
    let header: ImageHeader
    /// When the decoded image expires, in the time of the cache's timer.
    let expiry: Duration
    /// How long the fetch took.
    let duration: Duration
    private let reservation: FairBudget.Reservation
    private let onRelease: @Sendable () -> Void

    init(
        _ encoded: EncodedImage,
        header: ImageHeader,
        expiry: Duration,
        duration: Duration,
        reservation: FairBudget.Reservation,
        onRelease: @escaping @Sendable () -> Void
    ) {
        bytes = encoded.bytes
        isGenuine = encoded.isGenuine
        self.header = header
        self.expiry = expiry
        self.duration = duration
        self.reservation = reservation
        self.onRelease = onRelease
    }

    deinit { onRelease() }
}

/// The outcome of a fetch.
struct ImageFetch: Sendable {
    let result: Result<FetchedImage, ImageError>
    let origin: ImageLoadReport.Origin

    /// Returns the step for a load report.
    ///
    /// - Parameter waited: How long the reporting load waited. It is the step's duration if the fetch failed.
    /// - Returns: The step.
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
