import InwardImages
import Testing
import Thoroughness

@testable import InwardImageCodecs

/// Tests that images made in strips by child tasks equal those made in one task.
struct JPEGStripsTests {
    private func decoded(
        _ bytes: [UInt8],
        _ options: ImageDecodingOptions,
        stripPixels: Int
    ) async throws(ImageCodecError) -> Image {
        var decoder = JPEGDecoder()
        return try await decoder.picture(in: bytes.span, options, stripPixels: stripPixels).imageOfStrips(in: bytes)
    }

    @Test(arguments: Thoroughness.sample(JPEGFixture.names, every: 5))
    func stripsAreTheSameImage(name: String) async throws {
        let bytes = try JPEGFixture.bytes(name)
        for reduction in [1, 2, 4, 8] {
            let options = ImageDecodingOptions(reduction: reduction)
            let expected = try JPEGCodec().image(from: bytes, options)
            // One row of MCUs in each strip, or a few.
            for stripPixels in [1, 2_000] {
                #expect(try await decoded(bytes, options, stripPixels: stripPixels) == expected)
            }
        }
    }

    @Test(arguments: [ImageEncoding.Subsampling.none, .half, .quarter])
    func manyStripsAreTheSameImage(subsampling: ImageEncoding.Subsampling) async throws {
        let image = Image(size: ImageSize(clamping: 61, 203)) { pixels in
            for index in pixels.indices { pixels[index] = UInt8(truncatingIfNeeded: index / 4 * (index % 4 + 3) / 5) }
        }
        let bytes = try JPEGCodec().bytes(of: image, as: .jpeg(quality: 90, subsampling: subsampling))
        for reduction in Thoroughness.sample([1, 2, 4, 8], every: 3) {
            let options = ImageDecodingOptions(reduction: reduction)
            let expected = try JPEGCodec().image(from: bytes, options)
            for stripPixels in [1, 2_100, 100_000] {
                #expect(try await decoded(bytes, options, stripPixels: stripPixels) == expected)
            }
        }
    }

    @Test(arguments: ["baseline-420", "baseline-420-restarts", "progressive-420-restarts"])
    func truncatedStripsAreTheSameImage(name: String) async throws {
        let whole = try JPEGFixture.bytes(name)
        for count in stride(from: whole.count / 2, to: whole.count, by: Thoroughness.isExhaustive ? 31 : 101) {
            let part = Array(whole[..<count])
            for allowsTruncation in [false, true] {
                let options = ImageDecodingOptions(allowsTruncation: allowsTruncation)
                let expected = Result { () throws(ImageCodecError) in try JPEGCodec().image(from: part, options) }
                let found: Result<Image, ImageCodecError>
                do throws(ImageCodecError) {
                    found = .success(try await decoded(part, options, stripPixels: 1))
                } catch {
                    found = .failure(error)
                }
                #expect(found == expected)
            }
        }
    }

    @Test(arguments: ["baseline-420", "progressive-420-restarts"])
    func cancelledTaskGetsAnError(name: String) async throws {
        let bytes = try JPEGFixture.bytes(name)
        // In a task that is not cancelled, because this checks for cancellation, too.
        var decoder = JPEGDecoder()
        let picture = try decoder.picture(in: bytes.span, ImageDecodingOptions(), stripPixels: 1)
        let error = await withTaskGroup(of: ImageCodecError?.self) { group in
            group.cancelAll()
            group.addTask {
                do throws(ImageCodecError) {
                    _ = try await picture.imageOfStrips(in: bytes)
                    return nil
                } catch {
                    return error
                }
            }
            return await group.next() ?? nil
        }
        #expect(error == .cancelled)
    }

    @Test func largeImageIsEncodedTheSameInBothWays() async throws {
        // Brighter from row to row, so that no two strips are equal.
        var pixels: [UInt8] = []
        for level in 0..<205 as Range<UInt8> {
            var row = [level, level, level, 255]
            // 1,024 pixels.
            for _ in 0..<10 { row += row }
            for _ in 0..<5 { pixels += row }
        }
        let image = try #require(Image(size: ImageSize(clamping: 1_024, 1_025), bytes: pixels))
        let bytes = try JPEGCodec().bytes(of: image, as: .jpeg())
        #expect(try await JPEGCodec().encode(image, as: .jpeg()) == bytes)
        let decoded = try await JPEGCodec().decode(bytes, ImageDecodingOptions())
        for row in [0, 519, 520, 1_024] { #expect(abs(Int(decoded[9, row].red) - row / 5) <= 2) }
        // The restart interval: 65 of 129 rows of 128 MCUs, because the image is gray.
        #expect(bytes.indices.contains { bytes[$0...].starts(with: [0xFF, 0xDD, 0, 4, 0x20, 0x80]) })
    }

    @Test func failureCancelsTheStripsThatAreBeingMade() async throws {
        // A gray image of 8 rows of MCUs.
        let header: [UInt8] = [8, 0, 64, 0, 8, 1, 1, 0x11, 0]
        let strips = JPEGStrips(try JPEGFrame(0xC0, header.span, 0..<header.count), pixelCount: 1)
        let failure = ImageCodecError.damagedJPEG("ends here")
        await #expect(throws: failure) {
            try await strips.pixels(0) { rows throws(ImageCodecError) in
                guard rows.lowerBound < 2 else { throw failure }
                return { () throws(ImageCodecError) in
                    // Ends when the task is cancelled.
                    while true { try ImageCodecError.checkCancellation() }
                }
            }
        }
    }

    @Test(arguments: [ImageEncoding.Subsampling.none, .quarter])
    func manyColorStripsAreEncodedTheSameInBothWays(subsampling: ImageEncoding.Subsampling) async throws {
        let image = Image(size: ImageSize(clamping: 50, 330)) { pixels in
            for index in pixels.indices {
                pixels[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: index / 200 * (index % 4 + 1))
            }
        }
        let encoding = ImageEncoding.jpeg(quality: 90, subsampling: subsampling)
        let whole = try JPEGCodec().image(from: JPEGCodec().bytes(of: image, as: encoding), ImageDecodingOptions())
        // Up to 42 strips, so that the numbers of the restart markers begin again.
        for rowsOfStrip in Thoroughness.sample([1, 2, 3, 4], every: 3) {
            let encoder = JPEGEncoder(image, encoding, rowsOfStrip: rowsOfStrip)
            let bytes = try encoder.encode(image.bytes.span)
            #expect(try await encoder.encode(image.bytes) == bytes)
            #expect(try JPEGCodec().image(from: bytes, ImageDecodingOptions()) == whole)
        }
    }

    @Test func restartIntervalFitsInto16Bits() {
        func rows(_ width: Int, _ height: Int, side: Int) -> Int {
            let size = ImageSize(clamping: width, height)
            return JPEGEncoder.rowsOfStrip(size.divided(by: side), size)
        }
        #expect(rows(1_000, 1_000, side: 8) == 125)
        #expect(rows(1_024, 1_024, side: 8) == 64)
        #expect(rows(3_000, 2_000, side: 16) == 63)
        // Both tasks get half, although a strip of half the rows would be too long.
        #expect(rows(3_500, 2_600, side: 8) == 82)
        #expect(rows(65_535, 65_535, side: 8) == 7)
        #expect(rows(8, 65_535 * 3, side: 8) == 12_288)
    }

    @Test func smallImageNeedsNoMemoryForStrips() throws {
        let low = Image(size: ImageSize(clamping: 8_192, 8), color: .black)
        let bytes = try JPEGCodec().bytes(of: low, as: .jpeg())
        let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        // The header states how high the image is. What follows the header is not read.
        func workingBytes(height: UInt8) throws -> Int {
            var higher = bytes
            higher[frame + 6] = height
            let header = try JPEGCodec().header(of: higher)
            #expect(header.size == ImageSize(width: 8_192, height: Int(height)))
            return header.workingBytes
        }
        // One row of 8,192 pixels fewer, and there are only three strips.
        let difference = try workingBytes(height: 97) - workingBytes(height: 96)
        #expect(difference > 96 * 8_192 * (2 + Image.bytesPerPixel))
        #expect(difference < 2 * 96 * 8_192 * (2 + Image.bytesPerPixel))
    }
}
