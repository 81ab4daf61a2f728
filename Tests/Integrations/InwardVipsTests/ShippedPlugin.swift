#if Vips
import InwardCore
import InwardImages
import Testing

/// A plugin of `InwardImages`, and the difference that it may cause.
struct ShippedPlugin: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The maximum difference of a component in the results, in levels of 256, if the images differ by at most 2.
    let tolerance: Int
    private let work: @Sendable (Image) async throws -> Image

    private init(
        _ name: String,
        tolerance: Int,
        _ work: @escaping @Sendable (Image) async throws -> Image
    ) {
        testDescription = name
        self.tolerance = tolerance
        self.work = work
    }

    private init(_ plugin: some Plugin<ImageResult>, tolerance: Int = 2) {
        self.init("\(type(of: plugin))", tolerance: tolerance) { try await plugin.applied(to: .success($0)).get() }
    }

    func applied(to image: Image) async throws -> Image { try await work(image) }

    static let all: [ShippedPlugin] = [
        ShippedPlugin(Resize(width: 31, height: 31), tolerance: 1),
        ShippedPlugin(Resize(width: 13, height: 29, mode: .exact), tolerance: 1),
        // Enlarging can overshoot between dark colors, where a small difference of light is many levels.
        ShippedPlugin(Resize(width: 90, height: 70, mode: .fill, enlarges: true), tolerance: 5),
        ShippedPlugin(Crop(to: ImageSize(clamping: 21, 17), at: .bottomRight), tolerance: 1),
        ShippedPlugin(Orient()),
        ShippedPlugin(Circle()),
        ShippedPlugin(RoundedCorners(radius: 7.5)),
        ShippedPlugin(Grayscale(), tolerance: 1),
        ShippedPlugin(Blur(radius: 2), tolerance: 1),
        ShippedPlugin(Background(Color(red: 20, green: 120, blue: 220))),
        ShippedPlugin(Watermark(.text("Inward", .white), width: .ofWidth(0.6))),
        ShippedPlugin(Watermark(.image(Image(size: ImageSize(clamping: 9, 5), color: .black)), at: .tiled)),
        // An image passes through unchanged, so compare the placeholders instead. A hash has few levels, so a small difference
        // can become a large one.
        ShippedPlugin("Placeholder", tolerance: 9) { image in
            let plugin = Placeholder(size: image.size, blur: try ThumbHash(of: image))
            return try await plugin.applied(to: .failure(ImageError(.notFound, explanation: "does not exist"))).get()
        },
    ]
}
#endif
