import InwardCore
import InwardFetching
import InwardTesting
import Synchronization

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random readers, writers and failures, whose order a seed determines.
///
/// Remarks 1 to 3 each have a writer that updates them again and again. Remarks from 100 on are new, and their writers may not
/// learn whether they were created.
final class RemarkWalk: Sendable {
    let seed: UInt64
    let scheduler: DeterministicScheduler
    private let random: Mutex<SplitMix64>
    private let written = Mutex<[Int: Int]>([:])
    private let isQuiet = Atomic(false)
    private let freshCount = Atomic(0)
    private let problems = Mutex<[String]>([])

    /// The number of fresh readings, which must be right.
    var freshReadingCount: Int { freshCount.load(ordering: .relaxed) }
    /// The violations, one sentence each.
    var violations: [String] { problems.withLock(\.self) }

    init(seed: UInt64) {
        self.seed = seed
        scheduler = DeterministicScheduler(seed: seed)
        random = Mutex(SplitMix64(seed: seed))
    }

    func number(_ range: Range<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

    /// An upstream whose requests and responses take time and are sometimes lost.
    func source() -> RemarkSource {
        let source = RemarkSource { [self] _ in
            try await way(losing: 20)
        } departure: { [self] request in
            // A writer of an existing remark always learns whether the write was done.
            try await way(losing: request.method == .get || request.body?.count ?? 0 > Self.longestOldBody ? 20 : 0)
        }
        for id in 1...3 { source.put(remark(id, version: 0)) }
        return source
    }

    /// New remarks have longer identifiers, and so longer bodies.
    private static let longestOldBody = 34

    private func way(losing share: Int) async throws {
        guard !isQuiet.load(ordering: .relaxed) else { return }
        try await scheduler.clock.sleep(for: .milliseconds(number(0..<3_000)))
        // Once the walk is quiet, no request or response is lost.
        if number(0..<100) < share, !isQuiet.load(ordering: .relaxed) { throw CancellationError() }
    }

    private func remark(_ id: Int, version: Int) -> Remark {
        Remark(id: id, author: 7 + number(0..<2), text: "\(1_000 + version)")
    }

    private func version(_ remark: Remark) -> Int { (Int(remark.text) ?? 0) - 1_000 }

    private var policy: ReadPolicy {
        [.cacheFirst, .cacheFirst, .cacheFirst, .upstreamOnly, .upstreamFirst][number(0..<5)]
    }

    private static let filters: [EntityFilter<Remark>] = [.all, .author(7), .author(8)]

    // MARK: Random readers and writers

    func read(_ repository: Repository<Remark>) async throws {
        for _ in 0..<25 {
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<5_000)))
            let before = written.withLock(\.self)
            if number(0..<2) == 0 {
                let id = [1, 2, 3, 100, 101][number(0..<5)]
                if let reading = try? await repository.entity(id, policy), !reading.isStale {
                    check([reading.value], notOlderThan: before)
                }
            } else if let reading = try? await repository.entities(Self.filters[number(0..<3)], policy),
                !reading.isStale
            {
                check(reading.value, notOlderThan: before)
            }
        }
    }

    private func check(_ remarks: [Remark], notOlderThan before: [Int: Int]) {
        for remark in remarks {
            require(version(remark) >= before[remark.id] ?? 0, "The remark \(remark) is older than its last write.")
        }
    }

    private func require(_ isCorrect: Bool, _ problem: String) {
        freshCount.add(1, ordering: .relaxed)
        if !isCorrect { problems.withLock { $0.append(problem) } }
    }

    func write(_ id: Int, to repository: Repository<Remark>) async throws {
        for version in 1...8 {
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<15_000)))
            guard (try? await repository.send(remark(id, version: version))) != nil else { continue }
            written.withLock { $0[id] = version }
        }
    }

    func writeNew(to repository: Repository<Remark>) async throws {
        for id in 100..<108 {
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<15_000)))
            _ = try? await repository.send(remark(id, version: 0))
        }
    }

    func invalidate(_ repository: Repository<Remark>) async throws {
        for _ in 0..<6 {
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<20_000)))
            let keys: [RecordKey] = [["users", "7"], ["users", "8"], ["remarks", "1"], ["remarks", "101"], []]
            repository.invalidate(under: keys[number(0..<5)])
        }
    }

    func disturb(_ records: RecordingRecordStore) async throws {
        for _ in 0..<6 {
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<15_000)))
            records.fail(with: RecordStoreError(.full, explanation: "failed"))
            try await scheduler.clock.sleep(for: .milliseconds(number(0..<5_000)))
            records.fail(with: nil)
        }
    }

    // MARK: After the walk

    func becomeQuiet() { isQuiet.store(true, ordering: .relaxed) }

    /// Checks that fresh readings equal the upstream's state, and that entities and lists agree.
    func check(_ repository: Repository<Remark>, _ source: RemarkSource, _ place: String) async throws {
        for id in [1, 2, 3] + Array(100..<108) {
            let there = source.remarks.first { $0.id == id }
            do {
                let reading = try await repository.entity(id)
                if !reading.isStale { require(reading.value == there, "\(place): remark \(id) is \(reading.value)") }
            } catch {
                require(there == nil, "\(place): remark \(id) cannot be read: \(error)")
            }
        }
        for filter in Self.filters {
            let reading = try await repository.entities(filter)
            guard !reading.isStale else { continue }
            let there = source.remarks.filter(filter.matches)
            require(reading.value.sorted { $0.id < $1.id } == there, "\(place): list \(filter.fields) is outdated")
            for remark in reading.value {
                guard let one = try? await repository.entity(remark.id, .cacheOnly) else { continue }
                require(one.value == remark, "\(place): \(one.value) is \(remark) in list \(filter.fields)")
            }
        }
    }
}
