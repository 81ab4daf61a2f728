import InwardCore
import InwardImageServing
import InwardImages
import Synchronization
import TestSupport

/// A store of encoded images in memory, which records calls, fails on demand, and can hold inserts back.
final class DictionaryStore: EncodedImageStore {
    private struct State {
        var images: [ImageVariantKey: StoredImage] = [:]
        var inserted = 0
        var looked = 0
        var failure: EncodedImageStoreError?
    }

    private let state = Mutex(State())
    private let gate: Gate
    private let firstInsert = Promise<Void>()

    init(isOpen: Bool = true) { gate = Gate(isOpen: isOpen) }

    var images: [ImageVariantKey: StoredImage] { state.withLock(\.images) }
    /// The number of calls that inserted an image.
    var inserted: Int { state.withLock(\.inserted) }
    /// The number of calls that looked an image up.
    var looked: Int { state.withLock(\.looked) }

    /// Waits until an insert has begun. Call it once.
    func isInserting() async { _ = await firstInsert.value(until: nil) }

    /// Stops holding inserts back.
    func open() { gate.open() }

    /// Makes calls throw an error from now on.
    func fail(with error: EncodedImageStoreError?) { state.withLock { $0.failure = error } }

    /// Changes all images.
    func replace(_ change: (StoredImage) -> StoredImage) { state.withLock { $0.images = $0.images.mapValues(change) } }

    func image(for key: ImageVariantKey) async throws(EncodedImageStoreError) -> StoredImage? {
        try throwFailure()
        return state.withLock { state in
            state.looked += 1
            return state.images[key]
        }
    }

    func insert(_ image: StoredImage, for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        try throwFailure()
        state.withLock { $0.inserted += 1 }
        firstInsert.fulfill(())
        _ = await gate.pass()
        state.withLock { $0.images[key] = image }
    }

    func removeImage(for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        try throwFailure()
        state.withLock { $0.images[key] = nil }
    }

    func removeImages(from address: ImageAddress) async throws(EncodedImageStoreError) {
        try throwFailure()
        state.withLock { state in state.images = state.images.filter { $0.key.address != address } }
    }

    private func throwFailure() throws(EncodedImageStoreError) {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}
