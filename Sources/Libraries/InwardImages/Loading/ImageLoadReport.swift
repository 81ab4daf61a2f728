import InwardCore

/// What a load did: its steps in their order, and what they took.
public struct ImageLoadReport: Hashable, Sendable {
    /// Where the outcome of a step came from.
    public enum Origin: Hashable, Sendable {
        /// It was done for this load.
        case done
        /// It was done for another load at the same time.
        case shared
        /// It was done before, and kept in memory.
        case memory
        /// It was done before, and kept by the store.
        case store
    }

    /// The steps in their order. Those before one that was kept are not among them.
    public let steps: [Step]
    /// How large the picture is that came of it; `nil` if none did.
    public let size: ImageSize?
    /// How long the load took, waits and all.
    public let duration: Duration
}
