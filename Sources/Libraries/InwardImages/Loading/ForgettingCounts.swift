/// How often each address was to be forgotten. Some addresses are counted together, so that it takes no more room for more of
/// them: then one is forgotten too often, and never too seldom.
struct ForgettingCounts {
    private static let groups = 256

    private var all = 0
    private var counts: [Int: Int] = [:]

    /// How often an address was to be forgotten, alone or with all others.
    func count(for address: ImageAddress) -> Int { all + counts[Self.group(of: address), default: 0] }

    /// Counts an address, or all of them.
    mutating func add(_ address: ImageAddress?) {
        if let address { counts[Self.group(of: address), default: 0] += 1 } else { all += 1 }
    }

    private static func group(of address: ImageAddress) -> Int { address.hashValue & (groups - 1) }
}
