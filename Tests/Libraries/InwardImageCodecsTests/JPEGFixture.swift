import Foundation
import InwardImages

/// A JPEG file created by make_jpeg.py, and the pixels that Pillow (with libjpeg-turbo) decodes from it.
enum JPEGFixture {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/JPEG")

    /// The names of all images with expected pixels.
    static let names = contents.filter { $0.hasSuffix(".rgb") && $0.split(separator: ".").count == 2 }
        .map { String($0.dropLast(4)) }.sorted()

    private static let contents = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []

    /// The bytes of an image.
    static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).jpg")))
    }

    /// The expected pixels, three bytes each.
    static func pixels(_ name: String, reduction: Int = 1) throws -> [UInt8] {
        let suffix = reduction == 1 ? "rgb" : "\(reduction).rgb"
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).\(suffix)")))
    }

    /// Returns the maximum and the mean difference between an image and the expected pixels.
    static func difference(_ image: Image, _ expected: [UInt8]) -> (most: Int, mean: Double) {
        var most = 0
        var sum = 0
        for pixel in 0..<image.size.pixelCount {
            for part in 0..<3 {
                let difference = abs(Int(image.bytes[4 * pixel + part]) - Int(expected[3 * pixel + part]))
                most = max(most, difference)
                sum += difference
            }
        }
        return (most, Double(sum) / Double(expected.count))
    }
}
