public import InwardRepositories
import Synchronization

extension SharedRecordStoreConformance {
    /// Checks that announcements end when a store is closed. A store whose announcements do not end makes the check hang.
    ///
    /// ```swift
    /// func checkClosing<Store: SharedRecordStore>(of store: Store, _ close: @Sendable (Store) async -> Void) async throws {
    ///     let conformance = SharedRecordStoreConformance(isDurable: true, now: Date())
    ///     try await conformance.checkClosing { store } close: { await close($0) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - open: Opens a store.
    ///   - close: Closes it.
    /// - Throws: A ``ConformanceFailure`` if the store cannot be opened or closed, or if a closed store announces something.
    public func checkClosing<Store: SharedRecordStore>(
        _ open: @Sendable () async throws -> Store,
        close: @Sendable (Store) async throws -> Void
    ) async throws(ConformanceFailure) {
        do {
            let store = try await open()
            var announcements = store.announcements(under: []).makeAsyncIterator()
            _ = await announcements.next()
            try await close(store)
            while await announcements.next() != nil {}
            var later = store.announcements(under: []).makeAsyncIterator()
            guard await later.next() == nil else {
                throw ConformanceFailure(violations: ["A closed store must announce nothing, but does."])
            }
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            throw ConformanceFailure(violations: ["Opening and closing a store must not fail, but did: \(error)"])
        }
    }

    /// Returns the store that announces and the one that listens.
    private func announcers(
        _ stores: [any SharedRecordStore]
    ) -> (announcing: any SharedRecordStore, listening: any SharedRecordStore) {
        (stores[0], announcesToOthers ? stores[1] : stores[0])
    }

    /// The keys that are announced under a key arrive in order, and no others.
    func announcementViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let (store, listening) = announcers(stores)
        var (news, first) = (
            AnnouncementReader(listening, under: ["news"]), AnnouncementReader(listening, under: ["news", "1"])
        )
        var violations = try await news.beginningViolations() + first.beginningViolations()
        let record = StoredRecord([1])
        try await store.commit([.keep(record, ["news", "1"])])
        let before = try await contents(of: store)
        try await store.commit([.announce(["news"])])
        try await store.commit([.announce(["news", "1"])], if: [.isAbsent(["none"])])
        if try await contents(of: store) != before {
            violations.append("An announcement must change no record, but does.")
        }
        let refused: RecordChange = .announce(["news", "1", "refused"])
        if try await isMade([refused], if: [.isAbsent(["news", "1"])], in: store) {
            violations.append("A commit that announces something must heed its conditions, but does not.")
        }
        let several: [RecordChange] = [
            .keep(record, ["news", "1", "kept"]), .announce(["news", "3"]), .remove(["news", "1"]),
            .announce(["news", "2"]), .announce(["news", "1", "x"]),
        ]
        try await store.commit(several, if: [.isAbsent(["none"])])
        try await store.commit([.announce(["newspaper"]), .announce(["old"])])
        try await store.commit([.announce([])])
        let all: [RecordKey] = [["news"], ["news", "1"], ["news", "3"], ["news", "2"], ["news", "1", "x"], []]
        violations += try await news.violations(expecting: all)
        violations += try await first.violations(expecting: [["news"], ["news", "1"], ["news", "1", "x"], []])
        return violations
    }

    /// Announcements that nobody reads arrive later, or are summed up.
    func overflowViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let (store, listening) = announcers(stores)
        var reader = AnnouncementReader(listening, under: ["many"])
        var violations = try await reader.beginningViolations()
        let keys = (0..<2_500).map { RecordKey(["many", String($0)]) }
        for start in stride(from: 0, to: keys.count, by: 250) {
            try await store.commit(keys[start..<start + 250].map { .announce($0) })
        }
        violations += try await reader.violations(expecting: keys)
        try await store.commit([.announce(["many", "later"])])
        violations += try await reader.violations(expecting: [["many", "later"]], orEarlier: keys)
        return violations
    }

    /// Concurrent commits are announced, each writer's in order, and a read finds what is announced.
    func concurrentAnnouncementViolations(
        _ stores: [any SharedRecordStore]
    ) async throws(RecordStoreError) -> [String] {
        let (writers, rounds) = (4, 16)
        let (store, listening) = announcers(stores)
        var violations: Set<String> = []
        for interleaving in Interleaving.allCases {
            try await store.commit([.removeAll([])])
            let reader = AnnouncementReader(listening, under: ["writers"])
            let isReady = EventCount()
            let ended = EventCount()
            violations.formUnion(
                await interleaving.violations(clients: writers + 1) { client in
                    await failures {
                        guard client > 0 else {
                            var reader = reader
                            let violations = try await reader.beginningViolations()
                            isReady.increase()
                            return try await violations
                                + reader.followViolations(writers: writers, rounds: rounds) { ended.value == writers }
                        }
                        while isReady.value == 0 { await Task.yield() }
                        let key: RecordKey = ["writers", String(client - 1)]
                        let violations = await failures {
                            for round in 0..<rounds {
                                let change = RecordChange.keep(StoredRecord([UInt8(round)]), key)
                                try await store.commit([change, .announce(key.appending(String(round)))])
                            }
                            return []
                        }
                        if ended.increase() == writers { try await listening.commit([.announce(["writers", "end"])]) }
                        return violations
                    }
                }
            )
        }
        return violations.sorted()
    }

    /// Listening ends with the task.
    func cancelledListeningViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let announcements = stores[0].announcements(under: [])
        await withTaskGroup { group in
            group.addTask { for await _ in announcements {} }
            await Task.yield()
            group.cancelAll()
        }
        return []
    }
}

/// Reads the announcements of a store about a key.
///
/// To know what has not arrived, it announces markers. A marker arrives after what was announced before.
private struct AnnouncementReader: Sendable {
    /// The maximum number of markers that may be lost because anything may have changed.
    private static let maximumAttempts = 100

    private let store: any SharedRecordStore
    private let key: RecordKey
    private let announcements: RecordAnnouncements
    private var markerCount = 0

    init(_ store: any SharedRecordStore, under key: RecordKey) {
        self.store = store
        self.key = key
        announcements = store.announcements(under: key)
    }

    private var markers: RecordKey { key.appending("marker") }

    /// Announces a marker and returns it.
    private mutating func mark() async throws(RecordStoreError) -> RecordKey {
        markerCount += 1
        let marker = markers.appending(String(markerCount))
        try await store.commit([.announce(marker)])
        return marker
    }

    mutating func beginningViolations() async throws(RecordStoreError) -> [String] {
        // So that something arrives in any case.
        _ = try await mark()
        var iterator = announcements.makeAsyncIterator()
        return await iterator.next() == .anythingMayHaveChanged
            ? [] : ["The first announcement must be that anything may have changed, but is not."]
    }

    /// Returns how what has arrived so far differs from the expected keys, unless anything may have changed.
    mutating func violations(
        expecting expected: [RecordKey],
        orEarlier earlier: [RecordKey] = []
    ) async throws(RecordStoreError) -> [String] {
        var keys: [RecordKey] = []
        var isSummedUp = false
        var iterator = announcements.makeAsyncIterator()
        attempts: for _ in 0..<Self.maximumAttempts {
            let marker = try await mark()
            while let announcement = await iterator.next() {
                switch announcement {
                case .changed(marker): break attempts
                case .changed(let key):
                    if !key.components.contains("marker"), !keys.contains(key) { keys.append(key) }
                case .anythingMayHaveChanged:
                    isSummedUp = true
                    continue attempts
                }
            }
            return ["Announcements must not end while the store is open, but do."]
        }
        let place = "under \(key)"
        keys.removeAll { earlier.contains($0) }
        if let other = keys.first(where: { !expected.contains($0) }) {
            return ["Announcements \(place) must leave out “\(other)”, but do not."]
        }
        if !isSummedUp, let missing = expected.first(where: { !keys.contains($0) }) {
            return ["Announcements \(place) must report “\(missing)”, but do not."]
        }
        return keys == expected.filter { keys.contains($0) }
            ? [] : ["Announcements \(place) must arrive in the order of the commits, but do not."]
    }

    /// Follows concurrent writers to their end.
    mutating func followViolations(
        writers: Int,
        rounds: Int,
        until haveEnded: () -> Bool
    ) async throws(RecordStoreError) -> [String] {
        var last = [Int](repeating: -1, count: writers)
        var isSummedUp = false
        var iterator = announcements.makeAsyncIterator()
        while let announcement = await iterator.next() {
            switch announcement {
            case .changed(["writers", "end"]):
                return isSummedUp || last.allSatisfy { $0 == rounds - 1 }
                    ? [] : ["Announcements of concurrent commits must all arrive, but do not."]
            case .changed(let key):
                guard key.components.count == 3, let writer = Int(key.components[1]), writer < writers,
                    let round = Int(key.components[2])
                else { continue }
                if !isSummedUp, round > last[writer] + 1 {
                    return ["Announcements of a writer must arrive in the order of its commits, but do not."]
                }
                last[writer] = max(last[writer], round)
                let found = try await store.record(for: ["writers", String(writer)])?.bytes.first.map { Int($0) } ?? -1
                if found < round { return ["A read must find the change that was announced, but does not."] }
            case .anythingMayHaveChanged:
                isSummedUp = true
                if haveEnded() { return [] }
            }
        }
        return ["Announcements must not end while the store is open, but do."]
    }
}
