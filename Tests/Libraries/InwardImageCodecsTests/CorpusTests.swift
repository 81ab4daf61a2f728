import Foundation
import InwardImageCodecs
import InwardImages
import Testing
import Thoroughness

/// Decodes the inputs that the fuzzers have collected.
struct CorpusTests {
    private static let codecs: [(corpus: String, codec: any ImageCodec)] = [
        ("fuzz-jpeg", JPEGCodec()), ("fuzz-png", PNGCodec()),
    ]

    private func files(of corpus: String) throws -> [URL] {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let directory = root.appending(path: "Fuzzing/Corpus").appending(path: corpus)
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
    }

    @Test(arguments: codecs.map(\.corpus)) func corpusHasEnoughFiles(name: String) throws {
        #expect(try files(of: name).count >= 10)
    }

    @Test(arguments: codecs.indices, [false, true])
    func corpusImagesHaveTheSizeOfTheirHeader(index: Int, allowsTruncation: Bool) throws {
        let (corpus, codec) = Self.codecs[index]
        for file in Thoroughness.sample(try files(of: corpus), every: 17) {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard let header = try? codec.header(of: bytes), header.bytes(reducedBy: 1) < 1 << 20 else { continue }
            for reduction in header.reductions {
                let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
                guard let image = try? codec.image(from: bytes, options) else { continue }
                #expect(image.size == header.size.divided(by: reduction), "\(file.lastPathComponent)")
                #expect(image.orientation == header.orientation, "\(file.lastPathComponent)")
            }
        }
    }
}
