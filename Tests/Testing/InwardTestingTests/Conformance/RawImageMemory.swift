import Dispatch
import InwardImages
import Synchronization

/// What the calls of a flawed codec share. Each access is safe, and what they come to together is not.
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
    /// Tells a call that waits that there is another.
    private let other = DispatchSemaphore(value: 0)

    /// The pixels that the calls work on.
    var pixels: [UInt8] {
        get { state.withLock(\.pixels) }
        set { state.withLock { $0.pixels = newValue } }
    }

    /// Begins a call, and returns whether none was under way.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBusy = true }
            return !state.isBusy
        }
    }

    func end() { state.withLock { $0.isBusy = false } }

    /// Sets the pixels and returns what they are afterwards. The first call for a size that came before keeps its thread until
    /// another call has set them too.
    func exchange(_ pixels: [UInt8], of size: ImageSize) -> [UInt8] {
        let waits = state.withLock { state in
            state.pixels = pixels
            let isFirst = state.sizes.insert(size).inserted
            if state.hasWaited { other.signal() }
            defer { state.hasWaited = state.hasWaited || !isFirst }
            return !state.hasWaited && !isFirst
        }
        // So long that it ends by itself only if nobody else calls, and the flaw is not found.
        if waits { _ = other.wait(timeout: .now() + 10) }
        return self.pixels
    }

    /// The header of the image that is read.
    var header: ImageHeader? {
        get { state.withLock(\.header) }
        set { state.withLock { $0.header = newValue } }
    }

    /// The header of bytes of a length, which is made the first time.
    func header(
        of length: Int,
        _ make: () throws(ImageCodecError) -> ImageHeader
    ) throws(ImageCodecError) -> ImageHeader {
        if let header = state.withLock({ $0.headers[length] }) { return header }
        let header = try make()
        state.withLock { $0.headers[length] = header }
        return header
    }

    /// The image in bytes of a length, which is made the first time.
    func image(of length: Int, _ make: () throws(ImageCodecError) -> Image) throws(ImageCodecError) -> Image {
        if let image = state.withLock({ $0.images[length] }) { return image }
        let image = try make()
        state.withLock { $0.images[length] = image }
        return image
    }

    /// The pixels that were written last if they are of a size, and otherwise those that are written now.
    func lastWritten(_ size: ImageSize, _ pixels: [UInt8]) -> [UInt8] {
        state.withLock { state in
            if let last = state.lastWritten, last.size == size { return last.pixels }
            state.lastWritten = (size, pixels)
            return pixels
        }
    }
}
