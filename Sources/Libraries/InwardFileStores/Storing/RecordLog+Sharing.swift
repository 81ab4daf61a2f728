import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization

/// What several instances of a service do with a log that they share.
extension RecordLog {
    /// Returns the records for several keys with their versions, as they were at one moment.
    func snapshots(for keys: [RecordKey]) throws(RecordStoreError) -> [RecordSnapshot?] {
        try bringUpToDate()
        let encoded = keys.map(\.encoded)
        let (entries, file) = view.withLock { view in (encoded.map { view.index[$0] }, view.file) }
        let time = now()
        var snapshots: [RecordSnapshot?] = []
        for (position, entry) in entries.enumerated() {
            var snapshot: RecordSnapshot?
            if let entry, let file {
                let record = try record(RecordIndex.Slot(key: encoded[position], entry: entry), of: file, at: time)
                snapshot = record.map {
                    RecordSnapshot($0, under: keys[position], version: RecordVersion(entry.stamp.version))
                }
            }
            snapshots.append(snapshot)
        }
        return snapshots
    }

    /// Returns the first records after a key whose keys begin with another key.
    func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try bringUpToDate()
        let (prefix, time) = (key.encoded, now())
        var last = last?.encoded
        var records: [(key: RecordKey, record: StoredRecord)] = []
        // Damaged records are left out, so others take their places.
        while records.count < limit {
            let count = limit - records.count
            let (slots, file) = view.withLock { view in
                (view.index.slots(under: prefix, after: last, limit: count, at: time), view.file)
            }
            guard let file else { break }
            for slot in slots {
                guard let key = RecordKey(encoded: slot.key), let record = try record(slot, of: file, at: time) else {
                    continue
                }
                records.append((key: key, record: record))
            }
            if slots.count < count { break }
            last = slots.last?.key
        }
        return records
    }

    /// Leases free records. The leases are on the disk when the call returns. The caller must hold the lock.
    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        let prefix = key.encoded
        var leases: [(lease: RecordLease, snapshot: RecordSnapshot)] = []
        try write { () throws(RecordStoreError) in
            let time = now()
            let free = try freeRecords(under: prefix, limit: limit, at: time)
            var number = view.withLock(\.index.lastNumber)
            var builder = RecordFrameBuilder()
            for (slot, record) in free {
                guard let key = RecordKey(encoded: slot.key) else { continue }
                number = RecordStamp.number(after: number)
                builder.add(.lease(slot.key, token: number, end: RecordStamp.end(of: duration, from: time)))
                let version = RecordVersion(slot.entry.stamp.version)
                leases.append((RecordLease(key, token: number), RecordSnapshot(record, under: key, version: version)))
            }
            try append(builder, isFlushed: true)
        }
        return leases
    }

    /// Changes the end of a lease, if it is still the last one of its record. The caller must hold the lock.
    func extend(_ lease: RecordLease, for duration: Duration) throws(RecordStoreError) -> Bool {
        let key = lease.key.encoded
        var isLast = false
        try write { () throws(RecordStoreError) in
            let time = now()
            guard let entry = view.withLock({ $0.index[key] }), !entry.isExpired(at: time),
                lease.token > 0, entry.stamp.token == lease.token
            else { return }
            isLast = true
            var builder = RecordFrameBuilder()
            builder.add(.lease(key, token: lease.token, end: RecordStamp.end(of: duration, from: time)))
            try append(builder, isFlushed: true)
        }
        return isLast
    }

    /// Returns free records, in the order in which their last leases ended. Removes damaged ones.
    private func freeRecords(
        under prefix: [UInt8],
        limit: Int,
        at time: Date
    ) throws(RecordStoreError) -> [(slot: RecordIndex.Slot, record: StoredRecord)] {
        while true {
            let (slots, file) = view.withLock { view in
                (view.index.freeSlots(under: prefix, limit: limit, at: time), view.file)
            }
            var records: [(slot: RecordIndex.Slot, record: StoredRecord)] = []
            for slot in slots {
                let bytes = try file?.readable(at: slot.entry.offset, count: slot.entry.length) ?? []
                if slot.entry.isFulfilled(by: bytes) {
                    records.append((slot, StoredRecord(bytes, expiry: slot.entry.expiry)))
                } else {
                    try remove(slot, bytes)
                }
            }
            if records.count == slots.count { return records }
        }
    }
}
