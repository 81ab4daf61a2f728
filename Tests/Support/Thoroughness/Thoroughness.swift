import Foundation

/// A choice of the cases that exhaustive tests run, such as bytes, lengths, steps and seeds: all of them if the environment
/// variable `DAMAGE` is `all`, as in CI, or else a sample.
public enum Thoroughness {
    /// Whether tests run all cases.
    public static let isExhaustive = ProcessInfo.processInfo.environment["DAMAGE"] == "all"

    /// Returns the distance between sampled cases, which is 1 if tests run all cases.
    public static func stride(sampling stride: Int) -> Int { isExhaustive ? 1 : stride }

    /// Returns every `stride`th case, starting with the first, or all cases if tests run all.
    public static func sample<Cases: RandomAccessCollection<Case>, Case>(
        _ cases: Cases,
        every stride: Int
    ) -> [Case] where Cases.Index == Int {
        Swift.stride(from: cases.startIndex, to: cases.endIndex, by: Self.stride(sampling: stride)).map { cases[$0] }
    }

    /// Returns the places where damage by a mask is tried: all of them if tests run all cases and the mask is 1, which changes as little
    /// as possible, or else a sample.
    public static func damaged<Cases: RandomAccessCollection<Case>, Case>(
        _ places: Cases,
        by mask: UInt8,
        every stride: Int
    ) -> [Case] where Cases.Index == Int {
        mask == 1
            ? sample(places, every: stride)
            : Swift.stride(from: places.startIndex, to: places.endIndex, by: stride).map { places[$0] }
    }
}
