import Foundation
import InwardRepositories
import Synchronization

@testable import InwardFileStores
@testable import InwardRecordDirectories

/// A store's directory with a log, which is reused for all inputs. It is in memory if possible.
struct LogDirectory {
    private static let url: URL = {
        let shared = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isShared = FileManager.default.isWritableFile(atPath: shared.path(percentEncoded: false))
        let parent = isShared ? shared : FileManager.default.temporaryDirectory
        let name = "fuzz-record-log-\(ProcessInfo.processInfo.processIdentifier)"
        atexit { try? FileManager.default.removeItem(at: LogDirectory.url) }
        return parent.appending(path: name, directoryHint: .isDirectory)
    }()

    /// The number of bytes that were read from files.
    private let readCount = ReadCount()
    private let size: Int

    /// Replaces the contents of the directory with a log.
    init(_ log: [UInt8]) {
        size = log.count
        try? FileManager.default.removeItem(at: Self.url)
        do {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            try FileManager.default.createDirectory(
                at: Self.url,
                withIntermediateDirectories: true,
                attributes: attributes
            )
            try Data(log).write(to: Self.url.appending(path: RecordDirectory.log))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Creates an empty directory.
    init() {
        size = 0
        try? FileManager.default.removeItem(at: Self.url)
    }

    /// The bytes of the log.
    var log: [UInt8] { (try? Data(contentsOf: Self.url.appending(path: RecordDirectory.log))).map(Array.init) ?? [] }

    /// Opens the log as a newly started store does.
    func opened(slack: Int = 1 << 20, damage: DamageReports = DamageReports()) -> RecordLog {
        let directory = RecordDirectory(url: Self.url) { [readCount] step in
            if case .read(_, _, let count) = step { readCount.add(count) }
            return nil
        }
        return RecordLog(directory, byteLimit: .max / 16, slack: slack, now: { KnownLog.time }) { damage.add($0) }
    }

    /// Checks that the number of bytes read is proportional to the length of the log.
    func checkEffort() {
        precondition(readCount.value <= 64 * (size + 65_536))
    }
}

/// Collects what a store reports as damaged.
final class DamageReports: Sendable {
    private let reports = Mutex<[RecordDamage]>([])

    var all: [RecordDamage] { reports.withLock(\.self) }

    func add(_ report: RecordDamage) { reports.withLock { $0.append(report) } }
}

private final class ReadCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ bytes: Int) { count.add(min(bytes, 1 << 40), ordering: .relaxed) }
}

extension RecordLog {
    /// The records of the log.
    func contents() throws(RecordStoreError) -> [RecordKey: StoredRecord] {
        Dictionary(try records(under: []).map { ($0.key, $0.record) }) { _, _ in
            preconditionFailure("The log contains a key twice.")
        }
    }

    /// Makes changes without concurrent writers.
    func commitAlone(_ changes: [RecordChange]) throws(RecordStoreError) {
        var outcomes: [Result<Void, RecordStoreError>] = []
        try exclusively { outcomes = commit([RecordCommit(changes)]) }
        for outcome in outcomes { try outcome.get() }
    }
}

/// Checks that a log that could be opened, however damaged, accepts commits, and still has them when it is reopened.
func checkUse(of directory: LogDirectory, with contents: [RecordKey: StoredRecord]) {
    do throws(RecordStoreError) {
        let log = directory.opened(slack: 0)
        check(try log.contents(), contents)
        for (key, record) in contents.prefix(8) { check(try log.record(for: key), record) }
        let losses = try log.losses(under: [])
        precondition(Set(losses.keys).isDisjoint(with: contents.keys) && losses.unknownCount >= 0)
        directory.checkEffort()
        let added = StoredRecord(Array("added".utf8))
        let removed = contents.keys.filter { $0 != ["added"] }.min()
        var expected = contents
        expected[["added"]] = added
        if let removed { expected[removed] = nil }
        try log.commitAlone([.keep(added, ["added"])] + (removed.map { [.remove($0)] } ?? []))
        log.tidy()
        check(try log.contents(), expected)
        // Nothing is damaged now.
        let damage = DamageReports()
        let again = directory.opened(damage: damage)
        check(try again.contents(), expected)
        precondition(damage.all.isEmpty)
        let later = try again.losses(under: [])
        check(later.unknownCount, losses.unknownCount)
        check(Set(later.keys), Set(losses.keys).subtracting([["added"]]))
    } catch {
        preconditionFailure("\(error)")
    }
}

private func check<Value: Equatable>(_ value: Value, _ expected: Value) {
    precondition(value == expected)
}
