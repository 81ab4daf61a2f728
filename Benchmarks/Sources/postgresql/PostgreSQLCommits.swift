#if PostgreSQL
import Foundation
import InwardPostgreSQL
import InwardRepositories

/// Measures commits into a PostgreSQL store, and a read of 1,000 records: `postgresql CONNECTION TASKS SECONDS`.
///
/// `Benchmarks/postgresql.py` starts a server, and compares the figures with those of pgbench.
@main
struct PostgreSQLCommits {
    private static let clock = ContinuousClock()

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let tasks = Int(arguments[2]), let seconds = Int(arguments[3]) else {
            return print("usage: postgresql CONNECTION TASKS SECONDS")
        }
        let store = PostgreSQLRecordStore(arguments[1], connectionLimit: tasks)
        let record = StoredRecord([UInt8](repeating: 7, count: 200))
        try await store.commit((0..<1_000).map { .keep(record, ["many", String($0)]) })
        let end = clock.now + .seconds(seconds)
        let start = clock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var count = 0
                    while clock.now < end {
                        try await store.commit([.keep(record, ["commits", String(task), String(count % 1_000)])])
                        count += 1
                    }
                    return count
                }
            }
            var total = 0
            for try await count in group { total += count }
            return total
        }
        let rate = Double(count) / ((clock.now - start) / .seconds(1))
        let listing = try await clock.measure { _ = try await store.records(under: ["many"]) }
        let many = try await clock.measure {
            _ = try await store.records(for: (0..<1_000).map { ["many", String($0)] })
        }
        print(Int(rate), listing / .milliseconds(1), many / .milliseconds(1))
    }
}
#else
@main
struct PostgreSQLCommits {
    static func main() { print("Build with --traits PostgreSQL.") }
}
#endif
