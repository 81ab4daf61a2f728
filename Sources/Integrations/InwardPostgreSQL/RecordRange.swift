#if PostgreSQL
/// The addresses of the keys that begin with a key.
///
/// The address of a long key begins with the first bytes of the key, and a digest follows. Long keys that begin alike are a
/// group: their addresses follow each other, but not in the order of the keys.
struct RecordRange: Sendable {
    /// The number of bytes of a long key in its address.
    private static let headLength = 1_024
    /// Greater than every digest.
    private static let end = [UInt8](repeating: 255, count: 33)

    /// The encoded key.
    let prefix: [UInt8]
    /// The first address, and the one after the last.
    private var start: [UInt8]
    private var end: [UInt8]

    /// Creates the range of an encoded key.
    init(of prefix: [UInt8]) {
        self.prefix = prefix
        start = Array(prefix.prefix(Self.headLength))
        // No byte of an encoded key is 255, and its last one is 0.
        end = prefix.isEmpty || Self.isLong(prefix) ? start + Self.end : prefix.dropLast() + [1]
    }

    /// The parameters of a statement for the range.
    var parameters: [Parameter] { [.bytes(start), .bytes(end), .bytes(prefix)] }

    /// Returns whether the address of a key does not contain all of it.
    static func isLong(_ key: [UInt8]) -> Bool { key.count > headLength }

    /// Moves the start after a key, but not after other keys of its group.
    mutating func begin(after key: [UInt8]) {
        move(to: Self.isLong(key) ? Array(key.prefix(Self.headLength)) : key + [0])
    }

    /// Moves the start after the group of a long key.
    mutating func begin(afterGroupOf key: [UInt8]) {
        move(to: key.prefix(Self.headLength) + Self.end)
    }

    /// Returns the part of the range with the group of a long key.
    func group(of key: [UInt8]) -> RecordRange {
        var group = self
        group.start = Array(key.prefix(Self.headLength))
        group.end = group.start + Self.end
        return group
    }

    /// Returns whether an encoded key is long and begins like another long one.
    static func areGrouped(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        isLong(one) && isLong(other) && one.prefix(headLength) == other.prefix(headLength)
    }

    private mutating func move(to address: [UInt8]) {
        if start.lexicographicallyPrecedes(address) { start = address }
    }
}
#endif
