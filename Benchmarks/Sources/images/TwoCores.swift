import Foundation
import InwardImageCodecs
import InwardImages

/// A comparison of the work on one large image in one task with that in child tasks, which use a second core.
struct TwoCores {
    let photo: [UInt8]
    private let codec = SwiftImageCodec()
    private let resize = Resize(width: 1600, height: 1600)
    private let encoding = ImageEncoding.jpeg(quality: 80)

    /// Prints the elapsed time of each step both ways, and the ratio, as medians of several rounds.
    func run(rounds: Int) async throws {
        let image = try codec.image(from: photo, ImageDecodingOptions())
        print("\(image.size), \(ProcessInfo.processInfo.activeProcessorCount) cores available\n")
        print("| step | one task, ms | child tasks, ms | ratio | at least |\n|---|---|---|---|---|")
        try await row("decode", rounds, nil) {
            _ = try codec.image(from: photo, ImageDecodingOptions())
        } concurrently: {
            _ = try await codec.decode(photo, ImageDecodingOptions())
        }
        try await row("resize", rounds, nil) {
            _ = try resize.filtered(image)
        } concurrently: {
            _ = try await resize.filter(image, reducedFrom: image.size)
        }
        try await row("encode", rounds, nil) {
            _ = try codec.bytes(of: image, as: encoding)
        } concurrently: {
            _ = try await codec.encode(image, as: encoding)
        }
        try await row("decode, resize and encode", rounds, 1.6) {
            let image = try codec.image(from: photo, ImageDecodingOptions())
            _ = try codec.bytes(of: try resize.filtered(image), as: encoding)
        } concurrently: {
            let image = try await codec.decode(photo, ImageDecodingOptions())
            _ = try await codec.encode(try await resize.filter(image, reducedFrom: image.size), as: encoding)
        }
    }

    private func row(
        _ name: String,
        _ rounds: Int,
        _ least: Double?,
        alone: () throws -> Void,
        concurrently: () async throws -> Void
    ) async throws {
        var times: [(Double, Double)] = []
        for round in 0...rounds {
            let start = ContinuousClock.now
            try alone()
            let middle = ContinuousClock.now
            try await concurrently()
            // The first round only warms up.
            if round > 0 { times.append((milliseconds(middle - start), milliseconds(.now - middle))) }
        }
        func median(_ values: [Double]) -> String { String(format: "%.2f", values.sorted()[values.count / 2]) }
        let figures = [median(times.map(\.0)), median(times.map(\.1)), median(times.map { $0.0 / $0.1 })]
        print("| \(name) | \(figures.joined(separator: " | ")) | \(least.map { "\($0)" } ?? "") |")
    }

    private func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}
