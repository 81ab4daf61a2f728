import InwardImageCodecs
import InwardImages
import InwardTesting
import Testing
import Thoroughness

struct PNGDamageTests {
    private static let small = ["passes-1x1", "gray1", "palette2-clear-interlaced", "coloralpha8"]

    private func decoded(_ bytes: [UInt8], allowsTruncation: Bool = false) -> Result<Image, ImageCodecError> {
        do throws(ImageCodecError) {
            return .success(
                try PNGCodec().image(from: bytes, ImageDecodingOptions(allowsTruncation: allowsTruncation))
            )
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: small)
    func everyChangedByteIsDetected(name: String) throws {
        var bytes = try Fixture.bytes(name)
        let changes = Thoroughness.isExhaustive ? Array(1...255) : (0..<8).map { 1 << $0 as UInt8 } + [255]
        for index in bytes.indices {
            let byte = bytes[index]
            for change in index < 200 ? changes : [255] {
                bytes[index] = byte ^ change
                if case .success = decoded(bytes) { Issue.record("A change of byte \(index) was not detected.") }
            }
            bytes[index] = byte
        }
    }

    @Test(arguments: small + ["deflate-stored", "deflate-best", "pillow"])
    func truncationIsDetectedAtEveryPosition(name: String) throws {
        let bytes = try Fixture.bytes(name)
        let image = try PNGCodec().image(from: bytes, ImageDecodingOptions())
        let step = (bytes.count > 500 ? 13 : 1) * Thoroughness.stride(sampling: 4)
        for count in stride(from: 1, to: bytes.count, by: step) {
            let cut = Array(bytes[..<count])
            guard case .failure(let error) = decoded(cut), error.reason == .truncated(.png) else {
                Issue.record("The first \(count) of \(bytes.count) bytes gave \(decoded(cut)).")
                continue
            }
            switch decoded(cut, allowsTruncation: true) {
            case .failure(let error):
                #expect(error.reason == .truncated(.png))
            case .success(let part):
                let wrong = stride(from: 0, to: image.bytes.count, by: 4).count { start in
                    part.bytes[start..<start + 4] != image.bytes[start..<start + 4]
                        && part.bytes[start..<start + 4] != [0, 0, 0, 0]
                }
                #expect(wrong == 0, "\(wrong) pixels are wrong with the first \(count) bytes")
            }
        }
        #expect(decoded(Array(bytes.dropLast()), allowsTruncation: true) == .success(image))
    }

    @Test func completeRowsOfATruncatedImageAreKept() throws {
        let bytes = try Fixture.bytes("deflate-stored")
        let image = try PNGCodec().image(from: bytes, ImageDecodingOptions())
        let part = try decoded(Array(bytes[..<(bytes.count / 2)]), allowsTruncation: true).get()
        let row = image.size.width * 4
        #expect(part.bytes[..<(10 * row)] == image.bytes[..<(10 * row)])
        #expect(part.bytes[(20 * row)...].allSatisfy { $0 == 0 })
    }

    @Test func errorSaysWhatIsDamagedAndWhere() throws {
        var bytes = try Fixture.bytes("coloralpha8")
        bytes[50] ^= 1
        guard case .failure(let error) = decoded(bytes) else {
            Issue.record("The image was decoded.")
            return
        }
        #expect(error == ImageCodecError(.damaged(.png), "has a wrong checksum in IDAT at byte 33"))
    }

    /// The checksums are corrected, so that damaged chunks are processed as far as possible.
    @Test(arguments: 0..<12)
    func changedChunksWithValidChecksumsDoNotCrash(round: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        let fixture = try #require(Fixture.all.randomElement(using: &generator))
        let original = PNGFile(parsing: try Fixture.bytes(fixture.name))
        for _ in 0..<30 {
            var file = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<file.chunks.count, using: &generator)
                guard !file.chunks[index].data.isEmpty else { continue }
                let place = Int.random(in: 0..<file.chunks[index].data.count, using: &generator)
                // Keep the high bytes of the sides, because large images take long. Other tests cover them.
                guard index > 0 || ![0, 1, 2, 4, 5, 6].contains(place) else { continue }
                file.chunks[index].data[place] = UInt8.random(in: 0...255, using: &generator)
            }
            for allowsTruncation in [false, true] {
                if case .success(let image) = decoded(file.bytes, allowsTruncation: allowsTruncation) {
                    let header = try PNGCodec().header(of: file.bytes)
                    #expect(header.size == image.size, "seed \(seed)")
                }
            }
        }
    }

    @Test func randomBytesAreRejected() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(throws: ImageCodecError.self, "seed \(seed)") { try PNGCodec().header(of: bytes) }
            let signed = PNGFile([], end: false).bytes.prefix(8 + (count % 2) * 25) + bytes
            #expect(throws: ImageCodecError.self, "seed \(seed)") {
                try PNGCodec().image(from: Array(signed), ImageDecodingOptions())
            }
        }
    }

    @Test func excessDataIsRejected() throws {
        let file = PNGFile([try PNGFile.data([UInt8](repeating: 0, count: 1_000_000))], width: 10, height: 10)
        guard case .failure(let error) = decoded(file.bytes) else {
            Issue.record("The image was decoded.")
            return
        }
        #expect(error.reason == .damaged(.png))
        #expect(error.explanation.contains("too much data"))
    }

    @Test(arguments: [false, true])
    func sizeThatTheDataCannotFillIsRejected(allowsTruncation: Bool) throws {
        let file = PNGFile([try PNGFile.data([0, 0, 0, 0])], width: 0x7FFF_FFFF, height: 0x1000_0000, kind: 2)
        let header = try PNGCodec().header(of: file.bytes)
        #expect(header.bytes(reducedBy: 1) > header.size.byteCount)
        guard case .failure(let error) = decoded(file.bytes, allowsTruncation: allowsTruncation) else {
            Issue.record("The image was decoded.")
            return
        }
        #expect(error.reason == .truncated(.png))
    }

    @Test(arguments: [(0, 1), (1, 0), (0x7FFF_FFFF, 0x7FFF_FFFF), (0x8000_0000, 1), (1, 0xFFFF_FFFF)])
    func fileWithAnInvalidSizeIsDamaged(width: Int, height: Int) throws {
        let file = PNGFile([try PNGFile.data([0])], width: width, height: height)
        guard case .failure(let error) = decoded(file.bytes, allowsTruncation: true) else {
            Issue.record("The image was decoded.")
            return
        }
        #expect(error.reason == .damaged(.png))
    }
}
