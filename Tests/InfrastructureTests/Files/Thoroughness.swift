import Foundation

/// How many of all bytes, lengths and steps a test goes through: each with the environment variable `DAMAGE` set to `all`, as CI does,
/// and a sample otherwise.
enum Thoroughness {
    /// Whether nothing is left out.
    static let isExhaustive = ProcessInfo.processInfo.environment["DAMAGE"] == "all"

    /// How far one place of the sample is from the next.
    static func stride(sampling stride: Int) -> Int { isExhaustive ? 1 : stride }

    /// A sample of a range of places.
    static func sample(_ places: Range<Int>, every stride: Int) -> [Int] {
        Array(Swift.stride(from: places.lowerBound, to: places.upperBound, by: Self.stride(sampling: stride)))
    }
}
