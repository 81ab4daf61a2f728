import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The log of a ``FileRecordStore`` and the index of its records. All methods block.
///
/// The file only grows until a new one replaces it. A reader that has located a record can therefore read it without a lock,
/// even during a write. Writers hold the directory's lock, and first read what other processes have appended.
final class RecordLog: Sendable {
    /// What this process knows about the log.
    struct View {
        var index = RecordIndex()
        var file: RecordFile?
        var identity: RecordFile.Identity?
        var end = 0
        /// The size of the file at the last check. It exceeds `end` if an unreadable tail could not be truncated.
        var size = 0
        /// Whether this process holds the lock, which keeps other processes from appending.
        var isWriting = false
        /// Whether the log must be rewritten before anything is appended to it.
        var mustRewrite = false
        /// The offset that `end` must exceed before the rewrite is tried again.
        var rewriteBound = 0
    }

    private let directory: RecordDirectory
    private let byteLimit: Int
    private let slack: Int
    let now: @Sendable () -> Date
    private let report: @Sendable (RecordDamage) -> Void

    // Held during file changes, by threads that may block.
    private let lock: Mutex<RecordLock>
    // Held only for lookups, never during I/O.
    let view = Mutex(View())

    /// Creates a log in a directory. The log is read on first use.
    init(
        _ directory: RecordDirectory,
        byteLimit: Int,
        slack: Int,
        now: @escaping @Sendable () -> Date,
        report: @escaping @Sendable (RecordDamage) -> Void
    ) {
        self.directory = directory
        self.byteLimit = byteLimit
        self.slack = slack
        self.now = now
        self.report = report
        lock = Mutex(RecordLock(directory))
    }

    /// Returns the record for a key.
    func record(for key: RecordKey) throws(RecordStoreError) -> StoredRecord? {
        try bringUpToDate()
        let key = key.encoded
        let (entry, file) = view.withLock { ($0.index[key], $0.file) }
        guard let entry, let file else { return nil }
        return try record(RecordIndex.Slot(key: key, entry: entry), of: file, at: now())
    }

    /// Returns the records for a key and for all keys that begin with it.
    func records(under key: RecordKey) throws(RecordStoreError) -> [(
        key: RecordKey, record: StoredRecord
    )] {
        try bringUpToDate()
        let prefix = key.encoded
        let (slots, file) = view.withLock { ($0.index.slots(under: prefix), $0.file) }
        guard let file else { return [] }
        let time = now()
        var records: [(key: RecordKey, record: StoredRecord)] = []
        for slot in slots {
            guard let key = RecordKey(encoded: slot.key),
                let record = try record(slot, of: file, at: time)
            else {
                continue
            }
            records.append((key: key, record: record))
        }
        return records
    }

    /// Reads the records under a key, and returns the losses among them.
    func losses(under key: RecordKey) throws(RecordStoreError) -> RecordLosses {
        _ = try records(under: key)
        let prefix = key.encoded
        let (keys, count) = view.withLock { view in
            (view.index.lostKeys.filter { $0.starts(with: prefix) }, view.index.unknownLossCount)
        }
        return RecordLosses(keys: keys.compactMap { RecordKey(encoded: $0) }.sorted(), unknownCount: count)
    }

    /// Makes the commits whose conditions are met, and returns the outcome of each commit. The changes are on the disk when the
    /// call returns. The caller must hold the lock.
    func commit(_ group: [RecordCommit]) -> [RecordCommitQueue.Outcome] {
        var outcomes: [RecordCommitQueue.Outcome] = []
        do throws(RecordStoreError) {
            try write { () throws(RecordStoreError) in
                let builder: RecordFrameBuilder
                (outcomes, builder) = plan(group)
                try append(builder, isFlushed: true)
            }
            return outcomes
        } catch {
            // A single commit may fit on the disk where the whole group does not.
            return group.count > 1 ? group.flatMap { commit([$0]) } : [.failure(error)]
        }
    }

    /// Returns which commits can be made, and their changes. The plan ends here, so that the index is not copied when the changes
    /// are applied to it.
    private func plan(_ group: [RecordCommit]) -> (outcomes: [RecordCommitQueue.Outcome], builder: RecordFrameBuilder) {
        var plan = RecordPlan(view.withLock(\.index), at: now())
        let outcomes = group.map { commit in Result { () throws(RecordStoreError) in try plan.add(commit) } }
        return (outcomes, plan.builder)
    }

    /// Runs a closure while no other process changes the log. Blocks until the lock is free.
    func exclusively(_ body: () -> Void) throws(RecordStoreError) {
        try locked { () throws(RecordStoreError) in body() }
    }

    /// Evicts records beyond the limit, and rewrites the log if most of it is garbage.
    ///
    /// If this fails, a later commit tries again.
    func tidy() {
        guard view.withLock({ isTooLarge($0) || isMostlyGarbage($0) }) else { return }
        do {
            try writing { () throws(RecordStoreError) in
                try evict()
                if view.withLock({ isMostlyGarbage($0) }) { try rewrite() }
            }
        } catch {
            view.withLock { $0.rewriteBound = $0.end + slack }
        }
    }

    private func isTooLarge(_ view: View) -> Bool { view.index.byteCount > byteLimit }

    private func isMostlyGarbage(_ view: View) -> Bool {
        view.end > view.rewriteBound && view.end / 2 > view.index.byteCount + slack / 2
    }

    // MARK: Reading

    /// Returns the record of a slot, or `nil` if it has expired or is damaged.
    func record(
        _ slot: RecordIndex.Slot,
        of file: RecordFile,
        at time: Date
    ) throws(RecordStoreError) -> StoredRecord? {
        guard !slot.entry.isExpired(at: time) else { return nil }
        let bytes = try file.readable(at: slot.entry.offset, count: slot.entry.length)
        guard slot.entry.isFulfilled(by: bytes) else {
            discard(slot, bytes)
            return nil
        }
        return StoredRecord(bytes, expiry: slot.entry.expiry)
    }

    /// Reads what other processes have appended, if anything.
    func bringUpToDate() throws(RecordStoreError) {
        let (isWriting, identity, size) = view.withLock { ($0.isWriting, $0.identity, $0.size) }
        // While this process holds the lock, no other process appends.
        if isWriting { return }
        if let identity, let status = try directory.status(of: RecordDirectory.log),
            status == (identity, size)
        {
            return
        }
        try locked { () throws(RecordStoreError) in try refresh() }
    }

    private func locked(
        _ body: () throws(RecordStoreError) -> Void
    ) throws(RecordStoreError) {
        try lock.withLock { lock throws(RecordStoreError) in try lock.holding(body) }
    }

    /// Reads the new part of the log. The caller must hold the lock.
    private func refresh() throws(RecordStoreError) {
        guard let status = try directory.status(of: RecordDirectory.log) else {
            let (wasThere, count) = view.withLock { view in
                // Versions and fencing tokens are not used again while the process knows them.
                defer { view = View(index: RecordIndex(lastNumber: view.index.lastNumber)) }
                return (view.identity != nil, view.index.count)
            }
            if wasThere { report(.vanished(count, path: directory.path(of: RecordDirectory.log))) }
            return try create()
        }
        let (known, identity, end, size) = view.withLock { ($0.file, $0.identity, $0.end, $0.size) }
        if let identity, status == (identity, size) { return }
        var file: RecordFile
        var start = 0
        if let known, identity == status.identity {
            file = known
            // A file that has become shorter is read again from the beginning.
            if status.size > end { start = end }
        } else {
            file = try directory.open(RecordDirectory.log, O_RDWR)
            // The process that renamed the log may have been killed before it flushed the rename.
            try directory.flush()
        }
        let path = directory.path(of: RecordDirectory.log)
        let scan = try RecordLogScan(file, path: path, from: start, size: status.size)
        if start == 0 { directory.removeNewLog() }
        // A frame without its second head may not have been flushed, because its writer was killed. Flush it before readers
        // rely on it.
        if !scan.isWhole { try file.flush() }
        view.withLock { view in
            if start == 0 { view = View(index: RecordIndex(lastNumber: view.index.lastNumber)) }
            for operation in scan.operations { view.index.apply(operation) }
            view.index.closeGap()
            if !scan.gaps.isEmpty { view.index.leapAfterDamage() }
            (view.file, view.identity, view.end, view.size) = (file, status.identity, scan.end, status.size)
        }
        guard !scan.isWhole else { return }
        for gap in scan.gaps { setAside(gap, of: file) }
        if scan.restoredCount > 0 { report(.restored(scan.restoredCount)) }
        view.withLock { $0.mustRewrite = true }
        // If there is no space for a rewrite, the store can still return the readable records.
        do { try rewrite() } catch { view.withLock { $0.rewriteBound = $0.end } }
    }

    // MARK: Writing

    /// Acquires the lock, brings the log into a state that can be appended to, and runs a closure that changes it.
    private func writing(_ body: () throws(RecordStoreError) -> Void) throws(RecordStoreError) {
        try locked { () throws(RecordStoreError) in try write(body) }
    }

    /// The same, for callers that already hold the lock.
    func write(_ body: () throws(RecordStoreError) -> Void) throws(RecordStoreError) {
        try refresh()
        if view.withLock(\.mustRewrite) { try rewrite() }
        view.withLock { $0.isWriting = true }
        defer { view.withLock { $0.isWriting = false } }
        try body()
    }

    /// Creates an empty log. If a log exists already, the call fails. It never replaces one.
    private func create() throws(RecordStoreError) {
        let file = try directory.open(RecordDirectory.log, O_RDWR | O_CREAT | O_EXCL)
        let writer: RecordLogWriter
        do {
            writer = try RecordLogWriter(file)
            try file.flush()
            try directory.flush()
        } catch {
            // The log was empty. If it cannot be removed, the next use recognizes it as incomplete and rewrites it.
            directory.remove(RecordDirectory.log)
            throw error
        }
        let identity = try file.status().identity
        view.withLock { view in
            view = View(
                index: RecordIndex(lastNumber: view.index.lastNumber),
                file: file,
                identity: identity,
                end: writer.end,
                size: writer.end,
                isWriting: view.isWriting
            )
        }
    }

    /// Appends a frame. An unflushed frame reaches the disk with the next flushed one.
    func append(_ builder: RecordFrameBuilder, isFlushed: Bool) throws(RecordStoreError) {
        var builder = builder
        guard !builder.isEmpty else { return }
        let (file, end) = view.withLock { view in
            builder.number(after: view.index)
            return (view.file, view.end)
        }
        guard let file else { return }
        let (head, tail, operations) = builder.frame(at: end)
        do throws(RecordStoreError) {
            // Reserves the space for the second head, so that a full disk cannot prevent it from being written.
            try file.write(head + [UInt8](repeating: 0, count: tail.count), at: end)
        } catch {
            do { try file.truncate(to: end) } catch { view.withLock { $0.mustRewrite = true } }
            throw error
        }
        do throws(RecordStoreError) {
            if isFlushed { try file.flush() }
        } catch {
            // After a failed flush, data can be readable without being on the disk, so nothing may be appended after it.
            view.withLock { $0.mustRewrite = true }
            do { try file.truncate(to: end) } catch {}
            throw error
        }
        do { try file.write(tail, at: end + head.count) } catch {
            // The frame is on the disk. Without the second head, it stays valid as long as the first head is intact.
            view.withLock { $0.mustRewrite = true }
        }
        view.withLock { view in
            for operation in operations { view.index.apply(operation) }
            view.end = end + head.count + tail.count
            view.size = view.end
        }
    }

    /// Evicts records with an expiry, earliest first, until the rest takes at most seven eighths of the limit.
    private func evict() throws(RecordStoreError) {
        let (byteCount, slots) = view.withLock { view in
            (view.index.byteCount, isTooLarge(view) ? view.index.slots(under: []) : [])
        }
        let expiring = slots.compactMap { slot in
            slot.entry.expiry.map { (slot: slot, time: $0.timeIntervalSinceReferenceDate) }
        }
        var excess = byteCount - byteLimit / 8 * 7
        var builder = RecordFrameBuilder()
        for (slot, _) in expiring.sorted(by: { $0.time < $1.time }) {
            guard excess > 0 else { break }
            excess -= RecordIndex.byteCount(of: slot.key, slot.entry)
            builder.remove(slot.key)
        }
        try append(builder, isFlushed: false)
    }

    /// Writes the live records to a new log that atomically replaces the old one.
    private func rewrite() throws(RecordStoreError) {
        let (index, old) = view.withLock { ($0.index, $0.file) }
        var lost: [(RecordIndex.Slot, [UInt8])] = []
        let file: RecordFile
        var rewriting: RecordLogWriter
        do throws(RecordStoreError) {
            let new = try directory.open(RecordDirectory.newLog, O_RDWR | O_CREAT | O_TRUNC)
            rewriting = try RecordLogWriter(new)
            let time = now()
            if index.lastNumber > 0 { try rewriting.add(.setLastNumber(index.lastNumber)) }
            if index.unknownLossCount > 0 { try rewriting.add(.setUnknownLossCount(index.unknownLossCount)) }
            for key in index.lostKeys { try rewriting.add(.lose(key)) }
            // Records with an expiry get separate frames, so that damage to those frames is known to be harmless.
            let slots = index.slots(under: []).filter { !$0.entry.isExpired(at: time) }
            for expires in [false, true] {
                for slot in slots where (slot.entry.expiry != nil) == expires {
                    let bytes = try old?.readable(at: slot.entry.offset, count: slot.entry.length) ?? []
                    if slot.entry.isFulfilled(by: bytes) {
                        try rewriting.add(bytes, slot)
                    } else {
                        lost.append((slot, bytes))
                        if !expires { try rewriting.add(.lose(slot.key)) }
                    }
                }
                try rewriting.endFrame()
            }
            try rewriting.finish()
            if old?.isUnreadable == true { DamagedRecords(directory: directory).keepLog() }
            try directory.replaceLog()
            // Reopen the file under its final name.
            file = try directory.open(RecordDirectory.log, O_RDWR)
        } catch {
            directory.removeNewLog()
            throw error
        }
        let identity = try file.status().identity
        view.withLock { view in
            view = View(
                index: rewriting.index,
                file: file,
                identity: identity,
                end: rewriting.end,
                size: rewriting.end,
                isWriting: view.isWriting,
                // Until the directory is flushed, a crash may bring back the old log, without the commits that were appended to
                // the new one.
                mustRewrite: true
            )
        }
        for (slot, bytes) in lost { setAside(slot, bytes) }
        try directory.flush()
        view.withLock { $0.mustRewrite = false }
    }

    // MARK: Damage

    /// Removes a damaged record.
    private func discard(_ slot: RecordIndex.Slot, _ bytes: [UInt8]) {
        do {
            try writing { () throws(RecordStoreError) in
                if view.withLock({ $0.index[slot.key]?.offset == slot.entry.offset }) { try remove(slot, bytes) }
            }
        } catch {
            // The next read of the log finds the damage again.
            view.withLock { $0.index.apply(Self.removal(of: slot)) }
        }
    }

    /// Removes a damaged record while the log is being written.
    func remove(_ slot: RecordIndex.Slot, _ bytes: [UInt8]) throws(RecordStoreError) {
        setAside(slot, bytes)
        var builder = RecordFrameBuilder()
        builder.add(Self.removal(of: slot))
        try append(builder, isFlushed: false)
    }

    /// Returns the operation for a damaged record. A record with an expiry is just removed, because it can be fetched again.
    private static func removal(of slot: RecordIndex.Slot) -> RecordOperation {
        slot.entry.expiry == nil ? .lose(slot.key) : .remove(slot.key)
    }

    private func setAside(_ slot: RecordIndex.Slot, _ bytes: [UInt8]) {
        let path = DamagedRecords(directory: directory).add(bytes)
        report(.damaged(RecordKey(encoded: slot.key), path: path))
    }

    private func setAside(_ gap: RecordLogScan.Gap, of file: RecordFile) {
        var bytes: [UInt8] = []
        // Unreadable bytes cannot be copied.
        do {
            bytes = try file.readable(
                at: gap.range.lowerBound,
                count: min(gap.range.count, DamagedRecords.byteLimit)
            )
        } catch {}
        let path = DamagedRecords(directory: directory).add(bytes)
        report(.unknown(byteCount: gap.range.count, isLast: gap.isLast, path: path))
    }
}
