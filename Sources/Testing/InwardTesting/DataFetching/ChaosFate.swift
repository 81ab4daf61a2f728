/// What is done to one request.
struct ChaosFate: Hashable {
    let fault: ChaosFault?
    let latency: Duration
    let isSlow: Bool
    /// What the bytes that a body loses or has changed follow from.
    let bodySeed: UInt64

    /// Draws a fate, always by as many numbers, so that a change of the plan in one place changes nothing in another.
    init(_ plan: ChaosPlan, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let faultNumber = Self.fraction(random.next())
        let latencyNumber = Self.fraction(random.next())
        isSlow = Self.fraction(random.next()) < plan.slowShare
        bodySeed = random.next()
        var end = 0.0
        fault = ChaosFault.allCases.first { fault in
            end += plan.shares[fault] ?? 0
            return faultNumber < end
        }
        let spread = plan.latency.upperBound - plan.latency.lowerBound
        let latency = plan.latency.lowerBound + spread * latencyNumber
        self.latency = isSlow ? latency * plan.slowFactor : latency
    }

    /// Cuts bytes short, by one at least.
    func truncate(_ bytes: inout some RangeReplaceableCollection<UInt8>) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        bytes = .init(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    }

    /// Makes one byte of 64 another, and one at least.
    func garble(_ bytes: inout some RandomAccessCollection<UInt8> & MutableCollection) {
        guard !bytes.isEmpty else { return }
        var random = SplitMix64(seed: bodySeed)
        let length = 64
        for start in stride(from: 0, to: bytes.count, by: length) {
            let offset = Int.random(in: start..<min(start + length, bytes.count), using: &random)
            bytes[bytes.index(bytes.startIndex, offsetBy: offset)] ^= UInt8.random(in: 1 ... .max, using: &random)
        }
    }

    /// A number from 0 up to but not including 1.
    private static func fraction(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }
}
