import Foundation
import InwardTesting

/// A sequence of requested keys.
struct Trace {
    let name: String
    let keys: [Int]

    /// Returns keys with a Zipf distribution: the key at rank `k` is requested in proportion to `1 / k^exponent`.
    static func zipf(_ exponent: Double, keys count: Int, length: Int, seed: UInt64) -> Trace {
        var random = SplitMix64(seed: seed)
        var sums: [Double] = []
        var sum = 0.0
        for place in 1...count {
            sum += 1 / pow(Double(place), exponent)
            sums.append(sum)
        }
        let keys = (0..<length).map { _ in place(of: .random(in: 0..<sum, using: &random), in: sums) }
        return Trace(name: "Zipf \(exponent)", keys: keys)
    }

    /// Returns the same trace with scans: at regular intervals, many other keys are requested once.
    func mixed(withScansOf length: Int, every interval: Int) -> Trace {
        var mixed: [Int] = []
        var next = 1_000_000
        for (index, key) in keys.enumerated() {
            mixed.append(key)
            guard index % interval == interval - 1 else { continue }
            mixed += next..<next + length
            next += length
        }
        return Trace(name: "\(name) with scans", keys: mixed)
    }

    private static func place(of value: Double, in sums: [Double]) -> Int {
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
