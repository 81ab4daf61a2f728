import InwardImageCodecs
import InwardImages
import InwardTesting
import Testing

struct JPEGCodecTests {
    private let codec = JPEGCodec()

    @Test(arguments: JPEGFixture.names)
    func pixelsMatchLibjpegTurbo(_ name: String) throws {
        let image = try codec.image(from: JPEGFixture.bytes(name), ImageDecodingOptions())
        let expected = try JPEGFixture.pixels(name)
        try #require(expected.count == 3 * image.size.pixelCount)
        #expect(JPEGFixture.difference(image, expected).most <= 2)
        #expect(image.isOpaque)
    }

    @Test func fixturesOfEveryKindExist() {
        let kinds = ["gray", "rgb", "cmyk", "444", "440", "422", "420", "411", "420-restarts", "420-whole", "1x1"]
        let names = ["baseline", "progressive"].flatMap { process in kinds.map { "\(process)-\($0)" } }
        #expect(Set(names + ["baseline-ycck", "baseline-scans"]).subtracting(JPEGFixture.names).isEmpty)
        #expect(JPEGFixture.names.count > 40)
    }

    @Test(arguments: ["baseline", "progressive"], ["444", "422", "420"])
    func reducedPixelsMatchLibjpegTurbo(_ kind: String, _ subsampling: String) throws {
        let name = "\(kind)-\(subsampling)-whole"
        for reduction in [2, 4, 8] {
            let image = try codec.image(from: JPEGFixture.bytes(name), ImageDecodingOptions(reduction: reduction))
            let expected = try JPEGFixture.pixels(name, reduction: reduction)
            try #require(expected.count == 3 * image.size.pixelCount)
            let difference = JPEGFixture.difference(image, expected)
            #expect(difference.mean < 1, "\(reduction)")
            #expect(difference.most <= 8, "\(reduction)")
        }
    }

    @Test(arguments: [
        "baseline-420", "progressive-422", "baseline-411-odd", "baseline-cmyk", "progressive-7x9", "baseline-1x1",
    ])
    func reducedSidesAreRoundedUp(_ name: String) throws {
        let bytes = try JPEGFixture.bytes(name)
        let size = try codec.header(of: bytes).size
        for reduction in [1, 2, 4, 8] {
            let image = try codec.image(from: bytes, ImageDecodingOptions(reduction: reduction))
            #expect(image.size == size.divided(by: reduction))
        }
    }

    @Test func unknownReductionIsIgnored() throws {
        let bytes = try JPEGFixture.bytes("baseline-7x9")
        let image = try codec.image(from: bytes, ImageDecodingOptions(reduction: 3))
        #expect(image.size == ImageSize(width: 7, height: 9))
    }

    @Test func headerHasSizeAndReductions() throws {
        let header = try codec.header(of: JPEGFixture.bytes("baseline-420"))
        #expect(header.format == .jpeg)
        #expect(header.size == ImageSize(width: 67, height: 45))
        #expect(header.orientation == .up)
        #expect(header.reductions == [1, 2, 4, 8])
    }

    @Test(arguments: Orientation.allCases)
    func orientationIsReadFromExif(_ orientation: Orientation) throws {
        let bytes = try JPEGFixture.bytes("orientation-\(orientation.rawValue)")
        #expect(try codec.header(of: bytes).orientation == orientation)
        #expect(try codec.image(from: bytes, ImageDecodingOptions()).orientation == orientation)
    }

    @Test func orientationIsReadInBothByteOrders() throws {
        let bytes = try JPEGFixture.bytes("baseline-7x9")
        let tiffs: [[UInt8]] = [
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0],
            Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0],
        ]
        for tiff in tiffs {
            let content = Array("Exif\0\0".utf8) + tiff
            let segment = [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
            let header = try codec.header(of: Array(bytes[..<2]) + segment + Array(bytes[2...]))
            #expect(header.orientation == .right)
            // Truncated Exif data is ignored.
            for count in 0..<tiff.count - 8 {
                let content = Array("Exif\0\0".utf8) + tiff[..<count]
                let segment = [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
                let header = try codec.header(of: Array(bytes[..<2]) + segment + Array(bytes[2...]))
                #expect(header.orientation == .up)
            }
        }
    }

    @Test func workingBytesCountTheCoefficientsOfSeveralScans() throws {
        let baseline = try codec.header(of: JPEGFixture.bytes("baseline-420"))
        let progressive = try codec.header(of: JPEGFixture.bytes("progressive-420"))
        let separate = try codec.header(of: JPEGFixture.bytes("baseline-scans"))
        // 5×3 MCUs of six blocks, with 64 coefficients of two bytes each.
        #expect(progressive.workingBytes - baseline.workingBytes == 5 * 3 * 6 * 64 * 2)
        // 3×2 blocks of each component, in addition to rows of samples and tables.
        #expect(separate.workingBytes > 3 * 2 * 3 * 64 * 2)
        #expect(separate.bytes(reducedBy: 1) == separate.workingBytes + 24 * 16 * 4)
    }

    @Test func otherDataIsUnrecognized() throws {
        for bytes in [[], [0xFF], [0xFF, 0xD9], Array("GIF89a".utf8)] as [[UInt8]] {
            #expect(reason { () throws(ImageCodecError) in _ = try codec.header(of: bytes) } == .unrecognized)
            #expect(
                reason { () throws(ImageCodecError) in _ = try codec.image(from: bytes, ImageDecodingOptions()) }
                    == .unrecognized
            )
        }
    }

    @Test(arguments: [
        (0xC3, "lossless"), (0xC5, "hierarchical"), (0xC9, "arithmetic"), (0xCA, "arithmetic"), (0xF7, "JPEG-LS"),
    ])
    func errorNamesTheUnsupportedProcess(_ marker: UInt8, _ word: String) throws {
        var bytes = try JPEGFixture.bytes("baseline-7x9")
        let frame = try frameStart(bytes)
        bytes[frame + 1] = marker
        let error = try #require(throws: ImageCodecError.self) { _ = try codec.header(of: bytes) }
        #expect(error.reason == .unsupported(.jpeg))
        #expect(error.explanation.contains(word))
    }

    @Test func twelveBitSamplesAreUnsupported() throws {
        var bytes = try JPEGFixture.bytes("baseline-7x9")
        bytes[try frameStart(bytes) + 4] = 12
        let error = try #require(throws: ImageCodecError.self) { _ = try codec.header(of: bytes) }
        #expect(error.reason == .unsupported(.jpeg))
        #expect(error.explanation.contains("12 bits"))
    }

    @Test func heightInALaterSegmentIsUnsupported() throws {
        var bytes = try JPEGFixture.bytes("baseline-7x9")
        let frame = try frameStart(bytes)
        bytes[frame + 5] = 0
        bytes[frame + 6] = 0
        let error = try #require(throws: ImageCodecError.self) { _ = try codec.header(of: bytes) }
        #expect(error.reason == .unsupported(.jpeg))
        #expect(error.explanation.contains("DNL"))
    }

    @Test func cancelledTaskDecodesAndEncodesNothing() async throws {
        let bytes = try JPEGFixture.bytes("progressive-420")
        let image = try codec.image(from: bytes, ImageDecodingOptions())
        let start = Rendezvous(of: 2)
        let task = Task {
            await start.arrive()
            return (
                reason { () throws(ImageCodecError) in _ = try codec.image(from: bytes, ImageDecodingOptions()) },
                reason { () throws(ImageCodecError) in _ = try codec.bytes(of: image, as: .jpeg()) }
            )
        }
        task.cancel()
        await start.arrive()
        let (decoding, encoding) = await task.value
        #expect(decoding == .cancelled)
        #expect(encoding == .cancelled)
    }

    private func frameStart(_ bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
    }

    private func reason(_ body: () throws(ImageCodecError) -> Void) -> ImageCodecError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }
}
