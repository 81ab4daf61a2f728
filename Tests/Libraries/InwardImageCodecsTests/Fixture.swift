import Foundation
import Testing

/// A PNG file created by make_png.py, with its size and the checksum of its pixels.
struct Fixture: CustomTestStringConvertible {
    let name: String
    let width: Int
    let height: Int
    /// The 64-bit FNV-1a hash of its pixels.
    let checksum: UInt64

    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// All PNG files.
    static let all: [Fixture] = {
        let text = (try? String(contentsOf: directory.appending(path: "expected.txt"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count == 4, let width = Int(fields[1]), let height = Int(fields[2]),
                let checksum = UInt64(fields[3], radix: 16)
            else { return nil }
            return Fixture(name: String(fields[0]), width: width, height: height, checksum: checksum)
        }
    }()

    var testDescription: String { name }

    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: directory.appending(path: name + ".png")))
    }

    static func checksum(of bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
