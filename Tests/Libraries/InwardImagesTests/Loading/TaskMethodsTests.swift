import InwardImages
import TestSupport
import Testing

/// Tests that loads use the methods of codecs and filters that can start child tasks.
struct TaskMethodsTests {
    /// A codec that decodes and encodes only with these methods.
    private struct TaskCodec: ImageCodec {
        private let sketch = SketchCodec()

        func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader { try sketch.header(of: bytes) }

        func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
            throw .cancelled
        }

        func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] { throw .cancelled }

        func decode(_ bytes: [UInt8], _ options: ImageDecodingOptions) async throws(ImageCodecError) -> Image {
            try sketch.image(from: bytes, options)
        }

        func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8] { [1, 2, 3] }
    }

    /// A filter that returns its input unless it is called by `filter`, which halves an image.
    private struct TaskFilter: ImageFilter {
        func filtered(_ image: Image) -> Image { image }

        func leastSize(for size: ImageSize) -> ImageSize? { ImageSize(clamping: 4, 2) }

        func filter(_ image: Image, reducedFrom size: ImageSize) async -> Image {
            Image(size: size.divided(by: 2), color: image[0, 0])
        }
    }

    private let source = SketchSource(["a": SketchCodec.bytes(16, 8)])

    @Test func loadDecodesAndEncodesWithThem() async throws {
        let loader = ImageLoader(source: source, codec: TaskCodec())
        #expect(try await loader.load("a").result.get().size == ImageSize(clamping: 16, 8))
        #expect(try await loader.loadEncodedImage(from: "a") { _ in .png }.bytes == [1, 2, 3])
    }

    @Test(arguments: [false, true]) func loadFiltersWithThem(isFirst: Bool) async throws {
        var loader = ImageLoader(source: source, codec: TaskCodec())
        // Only the first plugin can reduce the image.
        if !isFirst { loader.addPlugin(Grayscale()) }
        loader.addPlugin(TaskFilter())
        #expect(try await loader.load("a").result.get().size == ImageSize(clamping: 8, 4))
    }
}
