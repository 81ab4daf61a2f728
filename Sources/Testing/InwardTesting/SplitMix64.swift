/// A seeded pseudorandom number generator (Steele, Lea and Flood, 2014). Print the seed of a failed test to reproduce it.
///
/// ```swift
/// var generator = SplitMix64(seed: 7)
/// let die = Int.random(in: 1...6, using: &generator)
/// ```
///
/// The generator is not cryptographically secure.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SplitMix64 {
    /// Fills memory with random bytes, faster than byte by byte.
    mutating func fill(_ bytes: inout MutableSpan<UInt8>) {
        var bits: UInt64 = 0
        for index in 0..<bytes.count {
            if index % 8 == 0 { bits = next() }
            bytes[index] = UInt8(truncatingIfNeeded: bits)
            bits >>= 8
        }
    }

    /// Returns random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        fill(&span)
        return bytes
    }
}
