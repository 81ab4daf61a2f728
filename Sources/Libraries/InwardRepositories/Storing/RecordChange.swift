/// A change of what a store keeps.
public enum RecordChange: Hashable, Sendable {
    /// A record is kept under a key, in the place of another if there is one.
    case keep(StoredRecord, RecordKey)
    /// What is kept under a key is removed, if there is anything.
    case remove(RecordKey)
    /// Everything whose key begins with a key is removed, and what is kept under that key itself.
    case removeAll(RecordKey)
}
