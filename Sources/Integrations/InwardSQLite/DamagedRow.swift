#if SQLite

/// A row is not what was kept, so that what is read or changed beside it cannot be trusted.
struct DamagedRow: Error {
    /// The key that it has; `nil` if that is none.
    let key: [UInt8]?
}
#endif
