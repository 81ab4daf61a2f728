import Foundation

/// How many of all cases a test goes through: bytes, lengths, steps, seeds. All of them with the environment variable `DAMAGE` set to
/// `all`, as CI does, and a sample otherwise.
public enum Thoroughness {
    /// Whether nothing is left out.
    public static let isExhaustive = ProcessInfo.processInfo.environment["DAMAGE"] == "all"

    /// How far one place of the sample is from the next.
    public static func stride(sampling stride: Int) -> Int { isExhaustive ? 1 : stride }

    /// A sample of some cases: the first, and from there every so many.
    public static func sample<Cases: RandomAccessCollection<Case>, Case>(
        _ cases: Cases,
        every stride: Int
    ) -> [Case] where Cases.Index == Int {
        Swift.stride(from: cases.startIndex, to: cases.endIndex, by: Self.stride(sampling: stride)).map { cases[$0] }
    }
}
