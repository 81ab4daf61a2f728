import Comparing
import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFileStores
import InwardRepositories

// How many posts an outbox over a store of files accepts in a second, and how many it delivers: `outbox DIRECTORY [TASKS ...]`.
// Beside them stands what the store does alone with records of about the same size. Each commit returns behind a flush of the log,
// which all commits share that came together; a delivery is one more commit.

guard let directory = CommandLine.arguments.dropFirst().first, let url = URL(string: "http://upstream.test") else {
    print("outbox DIRECTORY [TASKS ...]")
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

/// How often something is to be done by so many tasks: each waits for a flush, which those of all share.
func count(_ tasks: Int) -> Int { tasks == 1 ? 500 : 20_000 }

/// Does something in so many tasks at once.
///
/// - Returns: how often in a second.
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

/// How many posts are accepted in a second, and how many accepted and delivered.
func publish(_ tasks: Int, answers: Bool) async throws -> (accepted: Double, delivered: Double) {
    let upstream = Upstream(baseURL: url, dataFetcher: UpstreamDataFetcher(answers: answers))
    let outbox = Outbox(upstream: upstream, store: store("outbox"), errorHandler: IgnoringErrorHandler())
    let repository = Repository(.posts(), upstream: upstream, outbox: outbox)
    try await outbox.open(settling: [repository.handler].compactMap(\.self))
    let posts = UpstreamPostRepository(repository)
    let start = clock.now
    let accepted = try await rate(tasks) { number in
        let draft = try PostDraft(authorID: User.ID(1), title: "Post \(number)", body: body)
        _ = try await posts.publish(draft)
    }
    if answers { for entry in outbox.pending { try await outbox.settlement(of: entry) } }
    let delivered = answers ? Double(count(tasks)) / (start.duration(to: clock.now) / .seconds(1)) : 0
    await outbox.close()
    return (accepted, delivered)
}

print(
    "| tasks | store alone, commits/s | accepted/s, upstream silent | accepted/s | delivered/s |\n|---|---|---|---|---|"
)
let chosen = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
for tasks in chosen.isEmpty ? [1, 16, 64, 256, 1_024] : chosen {
    let (alone, record) = (store("store"), StoredRecord([UInt8](repeating: 7, count: 400)))
    var rounds: [[Double]] = []
    for _ in 0..<3 {
        let commits = try await rate(tasks) { try await alone.commit([.keep(record, ["outbox", String($0)])]) }
        let silent = try await publish(tasks, answers: false)
        let answering = try await publish(tasks, answers: true)
        rounds.append([commits, silent.accepted, answering.accepted, answering.delivered])
    }
    let medians = (0..<4).map { column in String(Int(rounds.map { $0[column] }.median)) }
    print("| \(tasks) | \(medians.joined(separator: " | ")) |")
}
