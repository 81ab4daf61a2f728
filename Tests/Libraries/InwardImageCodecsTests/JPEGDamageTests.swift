import InwardImageCodecs
import InwardImages
import InwardTesting
import Testing
import Thoroughness

struct JPEGDamageTests {
    private let codec = JPEGCodec()
    private static let small = ["baseline-2x3", "progressive-7x9", "baseline-16x17"]

    @Test(arguments: small)
    func changedByteGivesAnImageOrAnError(_ name: String) throws {
        let bytes = try JPEGFixture.bytes(name)
        var generator = SplitMix64(seed: 7)
        for index in Thoroughness.sample(bytes.indices, every: 4) {
            var damaged = bytes
            damaged[index] = UInt8.random(in: 0...255, using: &generator)
            // Skip changed sizes that are large, because they would take too long.
            guard let header = try? codec.header(of: damaged), header.size.pixelCount < 10_000 else { continue }
            check(damaged, "seed 7, byte \(index)")
        }
    }

    @Test(arguments: small)
    func truncationGivesAPartialImageOrAnError(_ name: String) throws {
        let bytes = try JPEGFixture.bytes(name)
        let whole = try codec.image(from: bytes, ImageDecodingOptions())
        // In the last case, only the last byte is missing.
        for count in Thoroughness.sample(bytes.indices.dropLast(), every: 4) + [bytes.count - 1] {
            let start = Array(bytes[..<count])
            do throws(ImageCodecError) {
                _ = try codec.image(from: start, ImageDecodingOptions())
                Issue.record("The first \(count) of \(bytes.count) bytes were decoded.")
            } catch {
                #expect(error.reason == .truncated(.jpeg) || count < 2, "\(count)")
            }
            if let image = try? codec.image(from: start, ImageDecodingOptions(allowsTruncation: true)) {
                #expect(image.size == whole.size)
                #expect(image.isOpaque)
            }
        }
    }

    @Test func missingBlocksAreGray() throws {
        let bytes = try JPEGFixture.bytes("baseline-444")
        let whole = try codec.image(from: bytes, ImageDecodingOptions())
        let half = Array(bytes[..<(bytes.count * 2 / 3)])
        #expect(throws: ImageCodecError.self) { _ = try codec.image(from: half, ImageDecodingOptions()) }
        let image = try codec.image(from: half, ImageDecodingOptions(allowsTruncation: true))
        #expect(image[0, 0] == whole[0, 0])
        #expect(image[66, 44] == Color(gray: 128))
    }

    @Test func truncatedProgressiveImageIsCoarseEverywhere() throws {
        let bytes = try JPEGFixture.bytes("progressive-444")
        let whole = try codec.image(from: bytes, ImageDecodingOptions())
        let half = Array(bytes[..<(bytes.count * 2 / 3)])
        let image = try codec.image(from: half, ImageDecodingOptions(allowsTruncation: true))
        let expected = (0..<whole.size.pixelCount).flatMap { whole.bytes[4 * $0..<4 * $0 + 3] }
        #expect((0.5..<12).contains(JPEGFixture.difference(image, expected).mean))
    }

    @Test func randomBytesAfterAFrameGiveAnImageOfItsSizeOrAnError() throws {
        let bytes = try JPEGFixture.bytes("progressive-7x9")
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let start = Int.random(in: 150..<bytes.count, using: &generator)
            let rest = (start..<bytes.count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            check(Array(bytes[..<start]) + rest, "seed \(seed)")
        }
    }

    @Test func errorSaysWhatIsDamagedAndWhere() throws {
        var bytes = try JPEGFixture.bytes("baseline-420-restarts")
        let restart = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD1 })
        bytes[restart + 1] = 0xD5
        let error = try #require(throws: ImageCodecError.self) {
            _ = try codec.image(from: bytes, ImageDecodingOptions())
        }
        #expect(error.reason == .damaged(.jpeg))
        #expect(error.explanation == "has a marker other than RST1, in scan 1 at byte \(restart)")
    }

    @Test func fileWithAMarkerBetweenBlocksIsDamaged() throws {
        var bytes = try JPEGFixture.bytes("baseline-420")
        bytes[bytes.count - 60] = 0xFF
        bytes[bytes.count - 59] = 0xD3
        let error = try #require(throws: ImageCodecError.self) {
            _ = try codec.image(from: bytes, ImageDecodingOptions())
        }
        #expect(error.reason == .damaged(.jpeg))
    }

    @Test func fileWithRepeatedScansIsDamaged() throws {
        let bytes = try JPEGFixture.bytes("progressive-7x9")
        let scan = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let again = Array(bytes[scan..<bytes.count - 2])
        let error = try #require(throws: ImageCodecError.self) {
            _ = try codec.image(from: Array(bytes[..<(bytes.count - 2)]) + again, ImageDecodingOptions())
        }
        #expect(error.reason == .damaged(.jpeg))
        #expect(error.explanation.contains("repeats"))
    }

    private func check(_ bytes: [UInt8], _ name: String) {
        guard let header = try? codec.header(of: bytes) else { return }
        for options in [ImageDecodingOptions(), ImageDecodingOptions(reduction: 4, allowsTruncation: true)] {
            guard let image = try? codec.image(from: bytes, options) else { continue }
            #expect(image.size == header.size.divided(by: options.reduction), "\(name)")
        }
    }
}
