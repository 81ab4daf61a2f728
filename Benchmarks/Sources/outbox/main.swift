import Comparing
import Foundation
import InwardCore
import InwardFileStores
import InwardRepositories

// Measures the creations and updates per second that an outbox over a file store accepts and delivers:
// `outbox DIRECTORY [TASKS ...]`. For comparison, it measures the store alone with records of about the same size. Each commit
// returns after a flush of the log, which concurrent commits share. A delivery takes one more commit. Ratios are computed in
// each round, and their medians are printed, so that a temporary slowdown of the machine has little effect.

guard let directory = CommandLine.arguments.dropFirst().first, let url = URL(string: "http://upstream.test") else {
    print("usage: outbox DIRECTORY [TASKS ...]")
    exit(2)
}
let clock = ContinuousClock()
let body = String(repeating: "b", count: 150)

func store(_ name: String) -> FileRecordStore {
    FileRecordStore(
        directory: URL(filePath: directory).appending(path: "\(name)-\(UUID())"),
        reportDamage: { print("damage: \($0)") }
    )
}

/// Returns the number of operations for a number of tasks. Each operation waits for a flush, which concurrent tasks share.
func count(_ tasks: Int) -> Int { tasks == 1 ? 500 : 20_000 }

/// Runs an operation repeatedly in a number of concurrent tasks, and returns the operations per second.
func rate(_ tasks: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
    let time = try await clock.measure {
        try await withThrowingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    for number in stride(from: task, to: count(tasks), by: tasks) { try await work(number) }
                }
            }
            try await group.waitForAll()
        }
    }
    return Double(count(tasks)) / (time / .seconds(1))
}

/// Writes per second: accepted, and accepted and delivered.
struct WriteRates {
    let accepted: Double
    let delivered: Double
}

/// Creates notes in a number of tasks, or updates notes that were read before, each once.
func write(
    _ tasks: Int,
    answers: Bool,
    isUpdate: Bool,
    policy: OutboxPolicy = .standard
) async throws -> WriteRates {
    let upstream = Upstream(baseURL: url, dataFetcher: UpstreamDataFetcher(answers: answers))
    let outbox = Outbox(
        upstream: upstream,
        store: store("outbox"),
        policy: policy,
        errorHandler: IgnoringErrorHandler()
    )
    let notes = Repository(.notes, upstream: upstream, memory: MemoryLimit(count: 2 * count(tasks)), outbox: outbox)
    try await outbox.open(handlers: [notes.handler])
    if isUpdate { for number in 1...count(tasks) { _ = try await notes.entity(number) } }
    let start = clock.now
    let accepted = try await rate(tasks) { number in
        if isUpdate {
            try await notes.update(number + 1) { $0.text = body }
        } else {
            _ = try await notes.create(NoteDraft(text: body))
        }
    }
    if answers { await outbox.drain() }
    let delivered = answers ? Double(count(tasks)) / (start.duration(to: clock.now) / .seconds(1)) : 0
    await outbox.close()
    await notes.close()
    return WriteRates(accepted: accepted, delivered: delivered)
}

/// Returns the rates of one round, and their ratios.
func round(_ tasks: Int) async throws -> (rates: [Double], ratios: [Double]) {
    let (alone, record) = (store("store"), StoredRecord([UInt8](repeating: 7, count: 400)))
    let commits = try await rate(tasks) { try await alone.commit([.keep(record, ["outbox", String($0)])]) }
    let creation = try await write(tasks, answers: false, isUpdate: false).accepted
    let update = try await write(tasks, answers: false, isUpdate: true).accepted
    let delivered = try await write(tasks, answers: true, isUpdate: false).delivered
    let updated = try await write(tasks, answers: true, isUpdate: true).delivered
    let wide = OutboxPolicy(concurrency: 64)
    let many = try await write(tasks, answers: true, isUpdate: false, policy: wide).delivered
    let rates = [commits, creation, update, delivered, updated, many]
    return (rates, [creation / commits, update / creation, updated / delivered])
}

let names = [
    "tasks", "store alone, commits/s", "creations accepted/s", "updates accepted/s", "creations delivered/s",
    "updates delivered/s", "creations delivered/s, 64 at a time", "creation : commit", "update : creation, accepted",
    "update : creation, delivered",
]
print("| \(names.joined(separator: " | ")) |\n|\(String(repeating: "---|", count: names.count))")
let chosen = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
for tasks in chosen.isEmpty ? [1, 16, 64, 256, 1_024] : chosen {
    var rounds: [(rates: [Double], ratios: [Double])] = []
    for _ in 0..<7 { rounds.append(try await round(tasks)) }
    let rates = rounds[0].rates.indices.map { column in String(Int(rounds.map { $0.rates[column] }.median)) }
    let ratios = rounds[0].ratios.indices.map { column in rounds.map { $0.ratios[column] }.median.withTwoDigits }
    print("| \(tasks) | \((rates + ratios).joined(separator: " | ")) |")
}
