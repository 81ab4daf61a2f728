import Foundation
import InwardFetching
import InwardFileStores
import InwardRepositories
import InwardURLSession
import LoopbackServer
import Testing

/// Kills the real program at random instants while it publishes, and checks what happened to the posts that it had accepted.
///
/// `CRASHES=500` kills it 500 times. The default is 20 times, and twice with a slow upstream. `CRASH_SEED` repeats the seed of
/// a run, but not the timing of the processes.
///
/// With `CRASH_UPSTREAM=http://127.0.0.1:8787`, the test uses an upstream that answers like JSONPlaceholder and returns the
/// writes it received at `/_journal`, as a list of objects with `key` and `body`. The test then looks only at this journal,
/// because such an upstream may or may not honor idempotency keys.
@Suite(.timeLimit(.minutes(60)))
struct CrashTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let killCount = environment["CRASHES"].flatMap { Int($0) }
    private static let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    /// The number of stores. Each has its own runs, so runs of different stores overlap.
    private static let laneCount = 2

    private let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")

    @Test func acceptedPostsAreNeitherLostNorPublishedTwice() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let start = ContinuousClock.now
        let kills = Self.killCount ?? 20
        if let address = Self.environment["CRASH_UPSTREAM"] {
            let lanes = try await Self.crashed(
                (0..<Self.laneCount).map { try lane($0, at: address, nil) },
                times: kills
            )
            let journal = try await Self.journal(at: address)
            try await check(lanes, kills, at: address, journal: journal, done: journal, since: start)
        } else {
            try await crash(kills, JournalingUpstream(), JournalingUpstream(), hasRefusals: false, since: start)
        }
    }

    /// The upstream takes longer than the timeout of an attempt, answers 409 while it works, and refuses some posts.
    @Test func slowUpstreamCausesNoLostRepeatedOrSilentlyRefusedPosts() async throws {
        guard Self.environment["CRASH_UPSTREAM"] == nil else { return }
        defer { try? FileManager.default.removeItem(at: directory) }
        try await crash(
            Self.killCount ?? 2,
            JournalingUpstream(isSlow: true),
            JournalingUpstream(isSlow: true),
            hasRefusals: true,
            since: ContinuousClock.now
        )
    }

    private func crash(
        _ kills: Int,
        _ upstreams: JournalingUpstream...,
        hasRefusals: Bool,
        since start: ContinuousClock.Instant
    ) async throws {
        let servers = try upstreams.map { upstream in try LoopbackServer { upstream.answer($0) } }
        defer { for server in servers { server.stop() } }
        let addresses = servers.map { $0.url().absoluteString }
        let lanes = try zip(addresses, upstreams).enumerated().map { number, pair in
            try lane(number, at: pair.0, pair.1, hasRefusals: hasRefusals)
        }
        let crashed = try await Self.crashed(lanes, times: kills)
        // The lanes are in the order in which they ended.
        for (address, upstream) in zip(addresses, upstreams) {
            let lane = try #require(crashed.first { $0.upstream == address })
            try await check([lane], kills, at: address, journal: upstream.journal, done: upstream.done, since: start)
        }
        // Each post was published only once.
        let titles = upstreams.flatMap(\.done).compactMap(\.title)
        #expect(Set(titles).count == titles.count, "The seed was \(Self.seed).")
    }

    private func lane(
        _ number: Int,
        at upstream: String,
        _ journaling: JournalingUpstream?,
        hasRefusals: Bool = false
    ) throws -> CrashLane {
        let own = directory.appending(path: "\(number)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return try CrashLane(
            name: "\(Self.seed)-\(number)",
            directory: own,
            upstream: upstream,
            journalingUpstream: journaling,
            hasRefusals: hasRefusals,
            seed: Self.seed &+ UInt64(number)
        )
    }

    /// Runs each lane on a separate thread, and returns the lanes after their crashes.
    private static func crashed(_ lanes: [CrashLane], times kills: Int) async throws -> [CrashLane] {
        try await withThrowingTaskGroup { group in
            for lane in lanes {
                group.addTask {
                    // Resumed exactly once, by the thread.
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            var lane = lane
                            let share = (kills + laneCount - 1) / laneCount
                            continuation.resume(with: Result { try lane.crash(times: share) }.map { lane })
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Returns the writes of this run from the journal of an upstream.
    private static func journal(at address: String) async throws -> [JournaledWrite] {
        let url = try #require(URL(string: "\(address)/_journal"))
        let data = try await URLSessionDataFetcher(idleTimeout: .seconds(600), bodyLimit: 1 << 30).fetchData(from: url)
        return try JSONDecoder().decode([JournaledWrite].self, from: data).filter { write in
            write.title?.hasPrefix("\(seed)-") == true
        }
    }

    private func check(
        _ lanes: [CrashLane],
        _ wantedKills: Int,
        at address: String,
        journal: [JournaledWrite],
        done: [JournaledWrite],
        since start: ContinuousClock.Instant
    ) async throws {
        var (refused, pending): ([String], [String]) = ([], [])
        for lane in lanes {
            let store = FileRecordStore(directory: lane.store)
            let contents = try await OutboxContents(of: store, under: Self.prefix(at: address))
            let titles = contents.deadLetters.compactMap(Self.title)
            #expect(titles.count == contents.deadLetters.count)
            pending += contents.pending.compactMap(Self.title)
            // A refusal proves nothing if an earlier attempt may have succeeded, so such posts stay pending.
            #expect(contents.pending.allSatisfy { $0.state == .outcomeUnknown || $0.state == .sending })
            // The program lists the same numbers.
            let numbers = "\(contents.pending.count) pending, \(titles.count) refused."
            #expect(lane.listing.contains(numbers), "\(lane.listing)")
            refused += titles
        }
        let accepted = lanes.flatMap(\.accepted)
        let kept = Set(refused + pending)
        let findings = CrashFindings(accepted: accepted.filter { !kept.contains($0) }, journal: journal, done: done)
        // A published post must not be listed as refused, and a refused post must be kept.
        let doneTitles = Set(done.compactMap(\.title))
        let wronglyRefused = refused.filter {
            doneTitles.contains($0) || !$0.hasSuffix(JournalingUpstream.refusedSuffix)
        }
        let unreported = accepted.filter { $0.hasSuffix(JournalingUpstream.refusedSuffix) && !kept.contains($0) }
        let kills = lanes.map(\.killCount).reduce(0, +)
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        print(
            """
            Killed the program \(kills) times in \(seconds) s. \
            It ended before a kill \(lanes.map(\.escapeCount).reduce(0, +)) times, \
            and got no response in time \(lanes.map(\.lateCount).reduce(0, +)) times. The seed was \(Self.seed). \
            \(accepted.count) posts were accepted. \(journal.count) writes arrived, \(findings.repeatCount) of them repeats. \
            \(findings.unpromisedCount) posts were published but not reported as accepted. \
            \(refused.count) were refused and are kept, and \(pending.count) are pending with an unknown outcome. \
            Lost: \(findings.lost.count). Published with two keys: \(findings.twice.count). \
            Keys with different bodies: \(findings.differing.count). Refused but published: \(wronglyRefused.count). \
            Refused and not kept: \(unreported.count).
            """
        )
        #expect(kills >= wantedKills / Self.laneCount)
        #expect(!accepted.isEmpty)
        #expect(findings.lost.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.twice.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.differing.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.keylessCount == 0, "The seed was \(Self.seed).")
        #expect(wronglyRefused.isEmpty, "The seed was \(Self.seed).")
        #expect(unreported.isEmpty, "The seed was \(Self.seed).")
    }

    private static func title(_ item: OutboxItem) -> String? {
        item.write?.body.flatMap { JournaledWrite(key: nil, body: String(decoding: $0, as: UTF8.self)).title }
    }

    /// The key in the store of the guests' outbox.
    private static func prefix(at address: String) -> RecordKey {
        ["outboxes", "upstreams", address.hasSuffix("/") ? String(address.dropLast()) : address, "guests"]
    }
}
