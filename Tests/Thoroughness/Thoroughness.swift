import Foundation

/// How many of all cases a test goes through: bytes, lengths, steps, seeds. All of them with the environment variable `DAMAGE` set to
/// `all`, as CI does, and a sample otherwise.
public enum Thoroughness {
    /// Whether nothing is left out.
    public static let isExhaustive = ProcessInfo.processInfo.environment["DAMAGE"] == "all"

    /// How far one place of the sample is from the next.
    public static func stride(sampling stride: Int) -> Int { isExhaustive ? 1 : stride }

    /// A sample of a range of places.
    public static func sample(_ places: Range<Int>, every stride: Int) -> [Int] {
        Array(Swift.stride(from: places.lowerBound, to: places.upperBound, by: Self.stride(sampling: stride)))
    }
}
