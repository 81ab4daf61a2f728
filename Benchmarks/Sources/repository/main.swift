import Comparing
import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardRepositories
import Measuring
import UseCases

/// Measures reads from memory, through a use case and a repository.
func measureReads(_ upstream: Upstream) async throws {
    let users = UpstreamUserRepository(upstream: upstream)
    let greetUser = GreetUser(users: users)
    let listUsers = ListUsers(users: users)
    let posts = Repository(.posts(), upstream: upstream)
    let numbers = Array(1...1_000)
    for number in numbers {
        _ = try await greetUser(User.ID(number))
        _ = try await posts.entity(Post.ID(number))
    }
    var next = 0
    func number() -> Int {
        next = next == 999 ? 0 : next + 1
        return numbers[next]
    }
    let rows = [
        (
            "a use case that reads one of 1,000 users",
            try await Measurement { _ = try await greetUser(User.ID(number())) }
        ),
        ("one of 1,000 posts", try await Measurement { _ = try await posts.entity(Post.ID(number())) }),
        ("the list of 10 users", try await Measurement { _ = try await users.users(.cacheFirst) }),
        ("`ListUsers`, which sorts them", try await Measurement { _ = try await listUsers() }),
    ]
    print("| read from memory | ns | elapsed | allocations |\n|---|---|---|---|")
    for (name, cost) in rows {
        print("| \(name) | \(Int(cost.nanoseconds)) | \(Int(cost.elapsed)) | \(cost.allocations) |")
    }
}

/// Compares the number of reads by two tasks with that of one.
func compareTasks(_ upstream: Upstream) async throws {
    let users = UpstreamUserRepository(upstream: upstream)
    let (greetUser, listUsers) = (GreetUser(users: users), ListUsers(users: users))
    for number in 1...1_000 { _ = try await greetUser(User.ID(number)) }
    _ = try await listUsers()

    @Sendable func readOne(_ number: Int) async throws { _ = try await greetUser(User.ID(1 + number % 1_000)) }
    @Sendable func readList(_: Int) async throws { _ = try await users.users(.cacheFirst) }
    @Sendable func order(_: Int) async throws { _ = try await listUsers() }

    for (name, read) in [("one of 1,000 users", readOne), ("the list", readList), ("`ListUsers`", order)] {
        let ratios = try await (0..<7).reduceAsync { _ in
            let one = try await elapsed(1, read)
            let two = try await elapsed(2, read)
            return 2 * one / two
        }
        let ratio = ratios.median.withTwoDigits
        print("\(name): two tasks read \(ratio) times as much as one (medians of \(ratios.count))")
    }
}

/// Returns the seconds that a number of tasks take for a million reads each.
func elapsed(_ tasks: Int, _ read: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup { group in
        for task in 0..<tasks {
            group.addTask { for number in 0..<1_000_000 { try await read(number + task * 500) } }
        }
        try await group.waitForAll()
    }
    return start.duration(to: .now) / .seconds(1)
}

extension Range<Int> {
    func reduceAsync(_ make: (Int) async throws -> Double) async rethrows -> [Double] {
        var values: [Double] = []
        for index in self { values.append(try await make(index)) }
        return values
    }
}

/// Compares the hit rate in memory with that of a plain LRU cache of the same size.
func compareEviction() async throws {
    let size = 200
    let traces = [0.8, 1.0].flatMap { exponent in
        let zipf = Trace.zipf(exponent, keys: 10_000, length: 300_000, seed: 7)
        return [zipf, zipf.mixed(withScansOf: 400, every: 2_000)]
    }
    print("| 10,000 keys, \(size) cached | ours | LRU |\n|---|---|---|")
    for trace in traces {
        let source = Source()
        let limit = MemoryLimit(count: size)
        let posts = Repository(.posts(), upstream: try upstream(source), memory: limit)
        var lru = LRUCache(limit: size)
        var hits = 0
        for key in trace.keys {
            if lru.ask(key) { hits += 1 }
            _ = try await posts.entity(Post.ID(key))
        }
        let count = Double(trace.keys.count)
        let ratios = [1 - Double(source.requestCount) / count, Double(hits) / count]
        let cells = ratios.map { "\((1_000 * $0).rounded() / 10) %" }.joined(separator: " | ")
        print("| \(trace.name) | \(cells) |")
    }
}

/// Counts the upstream requests of ten thousand concurrent reads of one entity.
func crowd() async throws {
    let source = Source()
    let posts = Repository(.posts(), upstream: try upstream(source))
    try await withThrowingTaskGroup { group in
        for _ in 0..<10_000 { group.addTask { _ = try await posts.entity(Post.ID(7)) } }
        try await group.waitForAll()
    }
    print("10,000 simultaneous reads of one cold key: \(source.requestCount) upstream request")
}

struct NoAddress: Error {}

func upstream(_ source: Source) throws -> Upstream {
    guard let url = URL(string: "http://upstream.test") else { throw NoAddress() }
    return Upstream(baseURL: url, dataFetcher: source)
}

switch CommandLine.arguments.dropFirst().first {
case "reads": try await measureReads(upstream(Source()))
case "tasks": try await compareTasks(upstream(Source()))
case "eviction": try await compareEviction()
case "crowd": try await crowd()
case "sessions": try await compareSessions()
case "lists": try compareLists()
case "interactions": try await measureInteractions()
default: print("usage: repository reads|tasks|eviction|crowd|sessions|lists|interactions")
}
