import Foundation
import InwardRepositories

@testable import InwardFileStores
@testable import InwardRecordDirectories

/// A log with known commits.
struct KnownLog {
    /// The current time, for the expiry of records.
    static let time = Date(timeIntervalSinceReferenceDate: 800_000_000)
    private static let later = time.addingTimeInterval(3_600)

    /// The log of all commits.
    static let written = KnownLog(slack: 1 << 20)
    /// The log after compaction.
    static let rewritten = KnownLog(slack: 0)

    private static let commits: [[RecordChange]] = [
        [.keep(StoredRecord([1]), ["a"]), .keep(StoredRecord([1, 1], expiry: later), ["b"])],
        [.keep(StoredRecord([2]), ["a"]), .keep(StoredRecord(Array("a record of some length".utf8)), ["c", "1"])],
        [.remove(["b"]), .keep(StoredRecord(Array("RECORDS{".utf8)), ["mark"])],
        [.keep(StoredRecord([]), ["empty"]), .keep(StoredRecord(Array(0...99), expiry: later), ["c", "2"])],
        [.removeAll(["c"]), .keep(StoredRecord([3, 3, 3]), ["c", "3"]), .keep(StoredRecord([7]), [])],
        [.keep(StoredRecord([4, 4]), ["a"]), .keep(StoredRecord([4], expiry: later), ["é"])],
    ]

    let bytes: [UInt8]
    /// The records at the end.
    let contents: [RecordKey: StoredRecord]
    /// All records that existed at any time.
    let history: [RecordKey: Set<StoredRecord>]

    private init(slack: Int) {
        let directory = LogDirectory()
        let log = directory.opened(slack: slack)
        var history: [RecordKey: Set<StoredRecord>] = [:]
        do throws(RecordStoreError) {
            for changes in Self.commits {
                try log.commitAlone(changes)
                log.tidy()
                for case .keep(let record, let key) in changes { history[key, default: []].insert(record) }
            }
            contents = try log.contents()
        } catch {
            preconditionFailure("\(error)")
        }
        self.history = history
        bytes = directory.log
    }
}

/// Damages a known log as an input prescribes, with four bytes per damage, and checks that the store returns only committed
/// records.
func checkDamage(_ input: [UInt8], of known: KnownLog) {
    var log = known.bytes
    var damages = 0
    var start = 0
    while start + 4 <= input.count, damages < 64 {
        damage(&log, Array(input[start..<start + 4]))
        (start, damages) = (start + 4, damages + 1)
    }
    let directory = LogDirectory(log)
    let reports = DamageReports()
    do throws(RecordStoreError) {
        let opened = directory.opened(damage: reports)
        let contents = try opened.contents()
        for (key, record) in contents { precondition(known.history[key]?.contains(record) == true) }
        let losses = try opened.losses(under: [])
        precondition(Set(losses.keys).isSubset(of: known.history.keys))
        if log == known.bytes {
            precondition(contents == known.contents && reports.all.isEmpty && losses == RecordLosses())
        } else if log.count == known.bytes.count, zip(log, known.bytes).count(where: { $0 != $1 }) == 1 {
            // With a single damaged byte, the store returns the latest record of a key or none.
            let lost = known.contents.filter { contents[$0.key] != $0.value }
            precondition(lost.count <= 1 && contents.count + lost.count == known.contents.count)
            precondition(losses.unknownCount == 0)
            precondition(losses.keys == lost.filter { $0.value.expiry == nil }.map(\.key))
            precondition(!reports.all.isEmpty || contents == known.contents)
        }
        checkUse(of: directory, with: contents)
    } catch {
        preconditionFailure("\(error)")
    }
}

/// Damages the log once. The first byte selects the kind of damage, the next two the place, and the last one the details.
private func damage(_ log: inout [UInt8], _ order: [UInt8]) {
    guard !log.isEmpty else { return }
    let offset = (Int(order[1]) << 8 | Int(order[2])) % log.count
    let value = order[3]
    let end = min(log.count, offset + Int(value))
    switch order[0] % 8 {
    case 0: log[offset] ^= value
    case 1: log[offset] = value
    case 2: log.removeSubrange(offset...)
    case 3: for index in offset..<end { log[index] = 0 }
    case 4: log.insert(contentsOf: [UInt8](repeating: value, count: Int(value)), at: offset)
    case 5: log.removeSubrange(offset..<end)
    case 6: log += log[offset..<end]
    default: log.replaceSubrange(offset..<end, with: log[..<(end - offset)])
    }
}
