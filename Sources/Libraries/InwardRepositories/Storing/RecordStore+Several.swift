extension RecordStore {
    /// What is kept under several keys, `nil` for each where nothing is, in their order.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be known.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        var records: [StoredRecord?] = []
        for key in keys { records.append(try await record(for: key)) }
        return records
    }
}
