/// The records that a store lost to damage.
///
/// A record without an expiry must not vanish in silence: other records may depend on it, as the later writes of an outbox depend
/// on the earlier ones. So a store remembers which of them it lost.
public struct RecordLosses: Hashable, Sendable {
    /// The keys of the lost records, in order. A key leaves the list when a commit keeps or removes something under it.
    public let keys: [RecordKey]
    /// How many times the store found damage and could not tell which keys it hit.
    ///
    /// The number covers the whole store, whatever key it was asked for, and never decreases. To notice new damage, keep the last
    /// number seen in a record and compare.
    public let unknownCount: Int

    /// Creates a list of losses.
    public init(keys: [RecordKey] = [], unknownCount: Int = 0) {
        self.keys = keys
        self.unknownCount = unknownCount
    }
}
