import TestSupport

@testable import InwardImages

/// A plugin that subtracts a number from each color component, and counts its calls.
struct Darken: ImageFilter {
    let level: UInt8
    let counter: Counter

    init(by level: UInt8, _ counter: Counter = Counter()) {
        self.level = level
        self.counter = counter
    }

    func filtered(_ image: Image) throws(CancellationError) -> Image {
        counter.add()
        return Image(size: image.size, color: Color(gray: image[0, 0].red &- level))
    }

    static func == (left: Self, right: Self) -> Bool { left.level == right.level }
    func hash(into hasher: inout Hasher) { hasher.combine(level) }
}
