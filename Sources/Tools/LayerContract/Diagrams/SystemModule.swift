/// A module of the toolchain or the system that a ring may import.
public struct SystemModule: Hashable, Sendable {
    /// The module's name.
    public let name: String
    /// The module in whose place this one stands: it may be imported only where that one cannot be.
    ///
    /// `FoundationEssentials else Foundation` allows `Foundation` in its place alone.
    public let substituted: String?

    /// A module of the toolchain or the system.
    public init(_ name: String, inPlaceOf substituted: String? = nil) {
        self.name = name
        self.substituted = substituted
    }
}
