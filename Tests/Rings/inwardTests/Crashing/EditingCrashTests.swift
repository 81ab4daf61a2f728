import Foundation
import InwardRepositories
import InwardScopes
import InwardTesting
import LoopbackServer
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Kills processes at random instants while they create, update and delete, and checks what happened to the accepted writes.
///
/// `CRASHES=500` kills 500 processes instead of 8. `CRASH_SEED` repeats the seed of a run, but not the timing of the processes.
@Suite(.timeLimit(.minutes(60)))
struct EditingCrashTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = environment["CRASHES"].flatMap { Int($0) } ?? 8
    private static let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)

    private let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
    private let upstream = JournalingUpstream()

    @Test func acceptedEditsAreDeliveredOnceAndInOrder() async throws {
        // The directory must exist before it can be watched.
        try FileManager.default.createDirectory(
            at: directory.appending(path: "store"),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try LoopbackServer { [upstream] in upstream.answer($0) }
        defer { server.stop() }
        var generator = SplitMix64(seed: Self.seed)
        var (accepted, killCount, roundCount): ([String], Int, Int) = ([], 0, 0)
        while killCount < Self.kills {
            let run = try makeRun(roundCount, at: server.url(), using: &generator)
            roundCount += 1
            await #expect(processExitsWith: .signal(SIGKILL)) { [run = run as EditingRun] in try await run.perform() }
            upstream.clearTrap()
            if run.said.last != EditingRun.lastWord { killCount += 1 }
            accepted += run.said.filter { $0 != EditingRun.lastWord }
        }
        try await deliverTheRest(to: server.url())
        check(accepted)
        let findings = CrashFindings(accepted: accepted, journal: upstream.journal, done: upstream.done)
        let done = upstream.done.map { $0.request?.prefix { $0 != " " } }
        print(
            """
            Killed \(killCount) processes; \(roundCount - killCount) others had already delivered everything. \
            The seed was \(Self.seed). \
            \(accepted.count) writes were accepted. \(upstream.journal.count) writes arrived, \(findings.repeatCount) of them \
            repeats. \(done.count { $0 == "POST" }) creations, \(done.count { $0 == "PATCH" }) updates and \
            \(done.count { $0 == "DELETE" }) deletions were done, \(findings.unpromisedCount) of them without a report. \
            Lost: \(findings.lost.count). Sent with two keys: \(findings.twice.count). \
            Keys with different requests: \(findings.differing.count). Without a key: \(findings.keylessCount).
            """
        )
        #expect(findings.lost.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.twice.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.differing.isEmpty, "The seed was \(Self.seed).")
        #expect(findings.keylessCount == 0, "The seed was \(Self.seed).")
        // A killed process has at most one write whose acceptance it did not report.
        #expect(findings.unpromisedCount <= roundCount, "The seed was \(Self.seed).")
    }

    private func makeRun(
        _ round: Int,
        at address: URL,
        using generator: inout SplitMix64
    ) throws -> EditingRun {
        let noteCount = Int.random(in: 1...EditingRun.noteLimit, using: &generator)
        let writeCount = noteCount * EditingRun.writesPerNote
        let kind = Int.random(in: 0..<4, using: &generator)
        // Each write is one request, after one or two reads of its note.
        let number = Int.random(in: 1...(writeCount * 2), using: &generator)
        let stage = CrashInstant.Stage.allCases.randomElement(using: &generator) ?? .arrived
        let end: EditingRun.End =
            switch kind {
            case 0: .said(.random(in: 1...writeCount, using: &generator))
            case 1: .changes(.random(in: 1...(writeCount * 3), using: &generator))
            default: .asked
            }
        let run = EditingRun(directory: directory, upstream: address, round: round, noteCount: noteCount, end: end)
        if kind >= 2 { upstream.setTrap(at: number, stage) { run.kill() } }
        return run
    }

    /// Delivers the pending writes, and checks that none is left or was refused.
    private func deliverTheRest(to address: URL) async throws {
        let run = EditingRun(directory: directory, upstream: address, round: -1, noteCount: 0, end: .delivered)
        let (app, session) = try await run.openSession()
        try await EditingRun.deliverEverything(in: session)
        let contents = try #require(try await session.outbox?.contents())
        #expect(contents.pending.isEmpty && contents.deadLetters.isEmpty, "The seed was \(Self.seed).")
        try await app.close()
    }

    /// Checks that each write was done once, and the writes of each note in the order in which they were accepted.
    private func check(_ accepted: [String]) {
        let done = upstream.done.compactMap(\.title)
        #expect(Set(done).count == done.count, "The seed was \(Self.seed).")
        let (promised, places) = (Set(accepted), Dictionary(done.enumerated().map { ($1, $0) }) { first, _ in first })
        for note in 1...EditingRun.noteLimit {
            let updates = done.filter { $0.hasSuffix("@\(note)") && promised.contains($0) }
            #expect(updates == accepted.filter { $0.hasSuffix("@\(note)") }, "The seed was \(Self.seed).")
        }
        for (name, creation) in places where !name.contains("@") && !name.hasPrefix("DELETE ") {
            let later = [places["\(name)@new"], places["DELETE /notes/\(name)"]].compactMap(\.self)
            #expect(later == later.sorted() && later.allSatisfy { $0 > creation }, "The seed was \(Self.seed).")
        }
    }
}
