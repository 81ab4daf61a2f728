/// How much a repository keeps in memory.
public struct MemoryLimit: Hashable, Sendable {
    /// How many entities, and how many lists.
    public var count: Int
    /// How many bytes of what the upstream wrote, of the entities, and of the lists.
    public var bytes: Int

    /// Makes a limit; without arguments, of 10,000 entities of 32 MiB together, and as many lists.
    public init(count: Int = 10_000, bytes: Int = 32 * 1_024 * 1_024) {
        self.count = max(0, count)
        self.bytes = max(0, bytes)
    }

    /// The limit that nothing is kept within.
    public static let nothing = Self(count: 0, bytes: 0)
}
