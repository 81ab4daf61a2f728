import InwardRepositories
import Synchronization

/// Flaws in how the store reads pages, and several keys.
extension FlawedRecordStore {
    func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        if flaw == .pagesNothingWhenCancelled, Task.isCancelled { return [] }
        // Flaws in what a list contains also appear in its pages.
        let listed = try await records(under: key)
        var page = rest(of: listed, under: key, after: last)[...]
        if flaw == .countsExpiredRecordsInPages { page = page.prefix(limit).filter { isGiven($0.record) }[...] }
        switch flaw {
        case .exceedsTheLimit where limit == 2: page = page.prefix(3)
        case .returnsAPageForLimitZero where limit == 0: break
        case .swapsTheRecordsOfAPage:
            page = page.prefix(limit)
            let records = page.map(\.record).reversed()
            page = zip(page, records).map { (key: $0.key, record: $1) }[...]
        default: page = page.prefix(max(0, limit))
        }
        return Array(page)
    }

    /// Returns the records of which a page is the beginning.
    private func rest(
        of listed: [(key: RecordKey, record: StoredRecord)],
        under key: RecordKey,
        after last: RecordKey?
    ) -> [(key: RecordKey, record: StoredRecord)] {
        func all() -> [(key: RecordKey, record: StoredRecord)] {
            place.records.withLock(\.self).map { (key: $0.key, record: $0.value) }.sorted { $0.key < $1.key }
        }
        let isAfter = { (entry: (key: RecordKey, record: StoredRecord)) in last.map { entry.key > $0 } ?? true }
        switch flaw {
        case .skipsARecordBetweenPages: return Array(listed.filter(isAfter).dropFirst(last == nil ? 0 : 1))
        case .repeatsTheLastOfAPage: return listed.filter { entry in last.map { entry.key >= $0 } ?? true }
        case .beginsPagesWithMissingKeys:
            return last.map { last in listed.contains { $0.key == last } } ?? true ? listed.filter(isAfter) : listed
        case .countsExpiredRecordsInPages, .returnsExpiredRecordsInPages:
            return all().filter { key.contains($0.key) && isAfter($0) }
        case .leavesThePrefixInPages: return last == nil ? listed : all().filter { isGiven($0.record) && isAfter($0) }
        case .ordersPagesByText:
            return listed.filter(isAfter).sorted { $0.key.components.joined() < $1.key.components.joined() }
        default: return listed.filter(isAfter)
        }
    }

    func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        if flaw == .readsNothingWhenCancelled, Task.isCancelled { return keys.map { _ in nil } }
        var records: [StoredRecord?] = []
        var seen: Set<RecordKey> = []
        for key in flaw == .readsInKeyOrder ? keys.sorted() : keys {
            if flaw == .readsRepeatedKeysOnce, !seen.insert(key).inserted { continue }
            let record =
                if flaw == .readsExpiredRecordsWithOthers { place.records.withLock { $0[key] } } else {
                    try await record(for: key)
                }
            if flaw == .leavesOutMissingRecords, record == nil { continue }
            records.append(record)
        }
        return records
    }
}
