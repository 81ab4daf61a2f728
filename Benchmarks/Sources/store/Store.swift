import Foundation
import InwardFileStores
import InwardRepositories

#if SQLite
import InwardSQLite
#endif

/// Measures writes to a store and reads from it: `store DIRECTORY`.
///
/// It uses a file store, or a SQLite store if the trait `SQLite` is enabled and the name of the directory ends with `.sqlite`.
///
/// `store DIRECTORY write NAME COUNT` writes that many records under a name, from 64 tasks, and prints the number of each
/// record that is durable. Run it in several processes at once, or kill it. `store DIRECTORY count NAME` then prints the
/// numbers of the records that exist.
@main
struct Store {
    private static let clock = ContinuousClock()

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let directory = arguments.first else {
            return print("usage: store DIRECTORY [write NAME COUNT | count NAME]")
        }
        let store = store(in: directory)
        if arguments.count == 4, let name = arguments.dropFirst(2).first,
            let count = arguments.last.flatMap({ Int($0) })
        {
            return try await write(count, name, into: store)
        }
        if arguments.count == 3, let name = arguments.last { return try await count(name, in: store) }
        try await measure(store, directory)
    }

    private static func store(in directory: String) -> any RecordStore {
        let url = URL(filePath: directory)
        #if SQLite
        if directory.hasSuffix(".sqlite") {
            return SQLiteRecordStore(directory: url, reportDamage: { print("damage: \($0)") })
        }
        #endif
        return FileRecordStore(directory: url, reportDamage: { print("damage: \($0)") })
    }

    /// Writes pairs of records. A reader must never see one without the other.
    private static func write(_ count: Int, _ name: String, into store: any RecordStore) async throws {
        try await withThrowingTaskGroup { group in
            for task in 0..<64 {
                group.addTask {
                    for number in stride(from: task, to: count, by: 64) {
                        let record = StoredRecord(Array("\(name) \(number)".utf8))
                        try await store.commit([
                            .keep(record, ["write", name, String(number)]),
                            .keep(record, ["twin", name, String(number)]),
                        ])
                        try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Prints the numbers of the pairs under a name, and reports records without their counterpart.
    private static func count(_ name: String, in store: any RecordStore) async throws {
        let records = try await store.records(under: ["write", name])
        let twins = try await store.records(under: ["twin", name])
        for (record, twin) in zip(records, twins) where record.record != twin.record { return print("apart") }
        guard records.count == twins.count else { return print("apart") }
        for number in records.compactMap(\.key.components.last) { print(number) }
    }

    private static func measure(_ store: any RecordStore, _ directory: String) async throws {
        let record = StoredRecord([UInt8](repeating: 7, count: 200))
        for tasks in [1, 16, 64, 256, 1_024] {
            let count = tasks == 1 ? 500 : 20_000
            let time = try await clock.measure {
                try await withThrowingTaskGroup { group in
                    for task in 0..<tasks {
                        group.addTask {
                            for index in stride(from: task, to: count, by: tasks) {
                                try await store.commit([.keep(record, ["outbox", String(index)])])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            print("\(tasks) tasks: \(Int(Double(count) / (time / .seconds(1)))) commits of 200 bytes per second")
        }
        let filling = try await clock.measure {
            for part in 0..<100 {
                try await store.commit((0..<1_000).map { .keep(record, ["many", String(part), String($0)]) })
            }
        }
        print("100,000 records in 100 commits: \(filling)")
        let reading = try await clock.measure {
            for index in 0..<20_000 {
                guard try await store.record(for: ["many", String(index % 100), String(index % 1_000)]) == record else {
                    return print("wrong")
                }
            }
        }
        print("a read, sequentially: \(reading / 20_000)")
        let listing = try await clock.measure { _ = try await store.records(under: ["many", "50"]) }
        print("listing 1,000 records under a key: \(listing)")
        let opening = try await clock.measure {
            _ = try await self.store(in: directory).record(for: [])
        }
        print("opening the store: \(opening)")
    }
}
