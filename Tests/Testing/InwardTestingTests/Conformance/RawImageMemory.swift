import Dispatch
import InwardImages
import Synchronization

/// The state that calls of a flawed codec share. Each access is thread-safe, but sequences of accesses are not atomic.
final class RawImageMemory: Sendable {
    private struct State {
        var headers: [Int: ImageHeader] = [:]
        var images: [Int: Image] = [:]
        var lastWritten: (size: ImageSize, pixels: [UInt8])?
        var pixels: [UInt8] = []
        var header: ImageHeader?
        var isBusy = false
        var sizes: Set<ImageSize> = []
        var hasWaited = false
    }

    private let state = Mutex(State())
    /// Tells a waiting call that another call has begun.
    private let other = DispatchSemaphore(value: 0)

    /// The pixels that all calls work on.
    var pixels: [UInt8] {
        get { state.withLock(\.pixels) }
        set { state.withLock { $0.pixels = newValue } }
    }

    /// Begins a call, and returns whether no other call was in progress.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    func end() { state.withLock { $0.isBusy = false } }

    /// Sets the shared pixels, and returns them after other calls may have changed them. The first call with a size that was
    /// used before blocks its thread until another call has set the pixels.
    func exchange(_ pixels: [UInt8], of size: ImageSize) -> [UInt8] {
        let waits = state.withLock { state in
            state.pixels = pixels
            let isFirst = state.sizes.insert(size).inserted
            if state.hasWaited { other.signal() }
            defer { state.hasWaited = state.hasWaited || !isFirst }
            return !state.hasWaited && !isFirst
        }
        // If there is no other call, the timeout elapses, and the check does not find the flaw.
        if waits { _ = other.wait(timeout: .now() + 10) }
        return self.pixels
    }

    /// The header of the image that is being decoded.
    var header: ImageHeader? {
        get { state.withLock(\.header) }
        set { state.withLock { $0.header = newValue } }
    }

    /// Returns the header for bytes of a length, which is created once per length.
    func header(
        of length: Int,
        _ make: () throws(ImageCodecError) -> ImageHeader
    ) throws(ImageCodecError) -> ImageHeader {
        if let header = state.withLock({ $0.headers[length] }) { return header }
        let header = try make()
        state.withLock { $0.headers[length] = header }
        return header
    }

    /// Returns the image for bytes of a length, which is created once per length.
    func image(of length: Int, _ make: () throws(ImageCodecError) -> Image) throws(ImageCodecError) -> Image {
        if let image = state.withLock({ $0.images[length] }) { return image }
        let image = try make()
        state.withLock { $0.images[length] = image }
        return image
    }

    /// Returns the pixels that were encoded last if they have the given size, and the given pixels otherwise.
    func lastWritten(_ size: ImageSize, _ pixels: [UInt8]) -> [UInt8] {
        state.withLock { state in
            if let last = state.lastWritten, last.size == size { return last.pixels }
            state.lastWritten = (size, pixels)
            return pixels
        }
    }
}
