import InwardRepositories
import Synchronization

/// Commits, and their flaws.
extension FlawedSharedRecordStore {
    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await commit(changes, if: [])
    }

    func commit(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError) {
        try await handleCancellation(changes)
        if flaw == .dropsCancelledCommits, Task.isCancelled { return }
        if flaw == .announcesConflicts { announce(changes, conditions) }
        if flaw == .announcesBeforeTheCommit {
            announce(changes, conditions)
            for _ in 0..<8 { await Task.yield() }
        }
        try await make(changes, if: conditions)
        if flaw != .announcesConflicts, flaw != .announcesBeforeTheCommit { announce(changes, conditions) }
        if flaw == .commitsWhenCancelled { try throwIfCancelled() }
    }

    private func make(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError) {
        place.commits.withLock { $0 += 1 }
        defer { place.commits.withLock { $0 -= 1 } }
        let checked = checkedConditions(conditions, changes)
        let checksEarly = checksEarly(conditions)
        let version = place.contents.withLock(\.lastVersion)
        let isMetBefore = place.contents.withLock { contents in checked.allSatisfy { isMet($0, in: contents) } }
        switch flaw {
        case .checksBeforeTheCommit, .readsOldSnapshotsDuringCommits, .refusesButMakesOvertakenCommits,
            .commitsWhenCancelled:
            for _ in 0..<3 { await Task.yield() }
        case .checksBeforeTheCommitOfAnotherStore: if !isFirst { for _ in 0..<3 { await Task.yield() } }
        case .fencesInSteps where conditions.contains(where: \.isLease): for _ in 0..<3 { await Task.yield() }
        case .commitsPartlyWhenCancelled where changes.count > 1: return try await commitOneByOne(changes, isMetBefore)
        default: break
        }
        try place.contents.withLock { contents throws(RecordStoreError) in
            let before = contents
            if flaw == .checksAfterTheChanges { make(changes, in: &contents) }
            let isMetNow = checked.allSatisfy { isMet($0, in: contents) }
            let isMade = checksEarly ? isMetBefore : isMetNow
            if !isMade, let condition = checked.first {
                contents = before
                let isOvertaken = before.lastVersion != version
                switch flaw {
                case .changesDespiteAConflict: make(changes, in: &contents)
                case .changesPartlyDespiteAConflict: make(Array(changes.prefix(1)), in: &contents)
                case .refusesButMakesOvertakenCommits where isOvertaken: make(changes, in: &contents)
                case .conflictsAsBusy: throw RecordStoreError(.busy, explanation: "The store is busy.")
                default: break
                }
                throw RecordStoreError.conflict(condition)
            }
            if flaw != .checksAfterTheChanges { make(changes, in: &contents) }
            contents.before = before.entries
        }
    }

    private func announce(_ changes: [RecordChange], _ conditions: [RecordCondition]) {
        var keys = changes.compactMap { if case .announce(let key) = $0 { key } else { nil } }
        switch flaw {
        case .announcesToOneStore: return own.hub.announce(keys)
        case .beginsWithoutAWord: return place.silentHubs.withLock { for hub in $0 { hub.announce(keys) } }
        case .announcesUnconditionalCommitsOnly: if !conditions.isEmpty { return }
        case .announcesOnlyOneKeyOfACommit: keys = Array(keys.prefix(1))
        case .announcesKeptRecords: keys = changes.map(\.key)
        case .announcesInReverse: keys.reverse()
        case .announcesOnlyFiftyKeys: keys = Array(keys.prefix(50))
        case .losesAnnouncementsOfAWriter: keys.removeAll { $0 == ["writers", "1", "15"] }
        case .announcesConcurrentCommitsInReverse:
            let next = keys.first { $0.components.first == "writers" && $0.components.last == "7" }
            if let next, place.postponed.withLock({ $0 == nil }) { return place.postponed.withLock { $0 = next } }
            if keys.first?.components.last == "8", let late = place.postponed.withLock({ $0.take() }) {
                keys.append(late)
            }
        default: break
        }
        place.hub.announce(keys)
    }

    private func handleCancellation(_ changes: [RecordChange]) async throws(RecordStoreError) {
        guard Task.isCancelled else { return }
        switch flaw {
        case .failsDifferentlyWhenCancelled: throw RecordStoreError(.unavailable, explanation: "The store is gone.")
        case .commitsWhenCancelled, .dropsCancelledCommits, .checksNothingWhenCancelled: break
        default: try throwIfCancelled()
        }
    }

    private func commitOneByOne(_ changes: [RecordChange], _ isMet: Bool) async throws(RecordStoreError) {
        guard isMet else { throw RecordStoreError(.conflict, explanation: "The record has changed.") }
        for change in changes {
            place.contents.withLock { make([change], in: &$0) }
            for _ in 0..<4 { await Task.yield() }
            try throwIfCancelled()
        }
    }

    /// Whether the store checks conditions before it begins with the commit.
    private func checksEarly(_ conditions: [RecordCondition]) -> Bool {
        switch flaw {
        case .checksBeforeTheCommit: true
        case .checksBeforeTheCommitOfAnotherStore: !isFirst
        case .fencesInSteps: conditions.contains(where: \.isLease)
        default: false
        }
    }

    private func checkedConditions(_ conditions: [RecordCondition], _ changes: [RecordChange]) -> [RecordCondition] {
        switch flaw {
        case .ignoresConditions: []
        case .checksTheFirstConditionOnly: Array(conditions.prefix(1))
        case .checksTheLastConditionOnly: Array(conditions.suffix(1))
        case .checksConditionsOfChangesOnly:
            conditions.filter { condition in changes.isEmpty || changes.contains { $0.key.contains(condition.key) } }
        case .checksNothingWithoutChanges: changes.isEmpty ? [] : conditions
        case .refusesCommitsWithoutChanges:
            changes.isEmpty && !conditions.isEmpty ? [.hasVersion(RecordVersion(.max), ["none"])] : conditions
        case .checksNothingWhenCancelled: Task.isCancelled ? [] : conditions
        default: conditions
        }
    }

    func isMet(_ condition: RecordCondition, in contents: Contents) -> Bool {
        switch condition {
        case .isAbsent(let key):
            return flaw == .expiredIsNotAbsent ? contents.entries[key] == nil : entry(key, in: contents) == nil
        case .hasVersion(let version, let key):
            let current = entry(key, in: contents)?.version
            switch flaw {
            case .acceptsEarlierVersions: return current.map { $0 >= version.number } ?? false
            case .acceptsLaterVersions: return current.map { $0 <= version.number } ?? false
            case .versionZeroIsAbsent: return current ?? 0 == version.number
            case .remembersRemovedVersions: return current ?? contents.removed[key] == version.number
            default: return current == version.number
            }
        case .isLeased(let lease): return isLast(lease, in: contents)
        }
    }

    /// Returns whether a lease is the last one of its record.
    func isLast(_ lease: RecordLease, in contents: Contents) -> Bool {
        if flaw == .comparesTokensOnly { return contents.entries.values.contains { $0.token == lease.token } }
        guard let entry = entry(lease.key, in: contents), entry.token > 0 else { return false }
        switch flaw {
        case .commitsWithFencedLeases: return true
        case .leaseIsNotValidOnceItEnded: return entry.token == lease.token && entry.freeSince > now()
        default: return entry.token == lease.token
        }
    }

    private func make(_ changes: [RecordChange], in contents: inout Contents) {
        if flaw == .givesOneVersionPerCommit { contents.lastVersion += 1 }
        for change in changes {
            switch change {
            case .keep(let record, let key): keep(record, under: key, in: &contents)
            case .remove(let key): remove(key, in: &contents)
            case .removeAll(let key):
                for found in contents.entries.keys where key.contains(found) { remove(found, in: &contents) }
            case .announce(let key): if flaw == .announcementsChangeVersions { renew(key, in: &contents) }
            }
        }
    }

    private func remove(_ key: RecordKey, in contents: inout Contents) {
        guard let entry = contents.entries.removeValue(forKey: key) else { return }
        contents.removed[key] = entry.version
        if [.leasesSurviveRemoval, .removalKeepsRecordsLeased].contains(flaw) { contents.kept[key] = entry }
        if flaw == .restartsVersionsWhenEmpty, contents.entries.isEmpty { contents.lastVersion = 0 }
    }

    private func keep(_ record: StoredRecord, under key: RecordKey, in contents: inout Contents) {
        let time = now()
        let old = entry(key, in: contents)
        var new = old ?? Entry(record: record, version: 0, created: time, freeSince: time, leasedSince: time)
        if let removed = contents.kept.removeValue(forKey: key), old == nil {
            new.freeSince = removed.freeSince
            if flaw == .leasesSurviveRemoval { new.token = removed.token }
        }
        new.record = record
        new.old = old?.record
        new.version = nextVersion(old, record, in: &contents)
        if flaw == .keepEndsLeases { (new.token, new.freeSince) = (0, time) }
        if flaw == .keepGivesANewToken, new.token > 0 {
            contents.lastToken += 1
            new.token = contents.lastToken
        }
        if flaw == .keepRenewsLeases, new.freeSince > time { new.freeSince = end(of: new.duration) }
        contents.entries[key] = new
        if flaw == .changesVersionsOfOthers { for other in contents.entries.keys { renew(other, in: &contents) } }
    }

    private func nextVersion(_ old: Entry?, _ record: StoredRecord, in contents: inout Contents) -> UInt64 {
        switch flaw {
        case .countsVersionsPerRecord: return (old?.version ?? 0) + 1
        case .countsVersionsPerStore:
            return own.contents.withLock { own in
                own.lastVersion += 1
                return own.lastVersion
            }
        case .givesOneVersionPerCommit: return contents.lastVersion
        case .keepsTheVersionOfEqualBytes: if let old, old.record == record { return old.version }
        default: break
        }
        contents.lastVersion += 1
        return contents.lastVersion
    }
}

extension RecordCondition {
    /// The key of the record.
    fileprivate var key: RecordKey {
        switch self {
        case .isAbsent(let key), .hasVersion(_, let key): key
        case .isLeased(let lease): lease.key
        }
    }

    fileprivate var isLease: Bool { if case .isLeased = self { true } else { false } }
}

extension RecordChange {
    fileprivate var key: RecordKey {
        switch self {
        case .keep(_, let key), .remove(let key), .removeAll(let key), .announce(let key): key
        }
    }
}
