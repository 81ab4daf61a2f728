import TestSupport

@testable import InwardImages

/// A plugin that returns an image of a fixed size, and allows the image to be decoded at that size.
struct Shrink: ImageFilter {
    let size: ImageSize
    let counter: Counter

    init(to width: Int, _ height: Int, _ counter: Counter = Counter()) {
        size = ImageSize(clamping: width, height)
        self.counter = counter
    }

    func filtered(_ image: Image) throws(CancellationError) -> Image {
        counter.add()
        return Image(size: size, color: image[0, 0])
    }

    func leastSize(for size: ImageSize) -> ImageSize? { self.size }

    static func == (left: Self, right: Self) -> Bool { left.size == right.size }
    func hash(into hasher: inout Hasher) { hasher.combine(size) }
}
