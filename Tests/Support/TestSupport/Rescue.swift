import InwardCore
package import InwardImages

/// A plugin that replaces each failure by an image.
package struct Rescue: Plugin {
    package init() {}

    package func applied(to value: ImageResult) async -> ImageResult {
        if case .failure = value { return .success(Image(size: ImageSize(clamping: 1, 1), color: .white)) }
        return value
    }
}
