import Foundation
import InwardTesting

/// A series of runs of the program over one store. Most of the runs are killed.
///
/// Its methods block their thread.
struct CrashLane: Sendable {
    /// The outcome of a run.
    private struct Outcome {
        let output: String
        let ending: ProgramRun.Ending
    }

    /// An error for a run with an unexpected end.
    struct UnexpectedEnding: Error, CustomStringConvertible {
        let description: String
    }

    /// The maximum number of posts of a run.
    private static let postLimit = 4
    /// How many runs may fail because the upstream did not answer in time.
    private static let lateLimit = 50
    /// How long it may take to deliver what the killed runs have left.
    private static let deliveryLimit = Duration.seconds(600)

    private let name: String
    private let directory: URL
    /// The address of the upstream.
    let upstream: String
    private let journalingUpstream: JournalingUpstream?
    /// Whether the upstream refuses some posts, and the timeout is short.
    private let hasRefusals: Bool
    private var generator: SplitMix64

    /// The titles of the posts that the program reported as accepted.
    private(set) var accepted: [String] = []
    /// The number of runs that were killed.
    private(set) var killCount = 0
    /// The number of runs that ended before they were killed.
    private(set) var escapeCount = 0
    /// The number of runs that ended without accepting all posts.
    private(set) var lateCount = 0
    /// The list of the outbox after everything was delivered.
    private(set) var listing = ""
    private var roundCount = 0

    /// Creates a lane. No other lane may have its name or its directory.
    ///
    /// - Parameters:
    ///   - name: The prefix of the titles of its posts.
    ///   - directory: The existing directory for the store.
    ///   - upstream: The address of the upstream.
    ///   - journalingUpstream: The upstream at this address; `nil` if it does not belong to the test.
    ///   - hasRefusals: Whether some posts have titles that the upstream refuses, and the timeout is short.
    ///   - seed: The seed of all random choices. It does not determine the timing of the processes.
    /// - Throws: An error if the directory is not writable.
    init(
        name: String,
        directory: URL,
        upstream: String,
        journalingUpstream: JournalingUpstream?,
        hasRefusals: Bool = false,
        seed: UInt64
    ) throws {
        self.name = name
        self.directory = directory
        self.upstream = upstream
        self.journalingUpstream = journalingUpstream
        self.hasRefusals = hasRefusals
        generator = SplitMix64(seed: seed)
        try Data().write(to: errors)
    }

    /// The directory of the store.
    var store: URL { directory.appending(path: "store", directoryHint: .isDirectory) }

    /// The standard error of all runs.
    var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    private var errors: URL { directory.appending(path: "errors.txt") }

    /// Runs the program until it was killed this many times and has accepted a post. Then delivers the pending posts.
    mutating func crash(times: Int) throws {
        while killCount < times || accepted.isEmpty { try crashOnce() }
        let end = ContinuousClock.now + Self.deliveryLimit
        repeat {
            let outcome = try run(posts: 0, until: nil)
            guard outcome.ending == .exit(0) || hasRefusals && outcome.ending == .exit(1) else {
                throw unexpected(outcome)
            }
            listing = try run(["--outbox"], posts: 0, until: nil).output
            // A refusal proves nothing if an earlier attempt may have succeeded, so such a post stays pending until it is
            // discarded.
            let isDelivered = listing.split(separator: "\n").allSatisfy { line in
                !line.contains("  \(name)-") || line.contains(JournalingUpstream.refusedSuffix)
            }
            if isDelivered { return }
        } while ContinuousClock.now < end
        throw UnexpectedEnding(
            description: """
                Not everything was delivered within \(Self.deliveryLimit). The outbox is “\(listing)”, and the end of standard \
                error was “\(complaints.suffix(2_000))”.
                """
        )
    }

    private mutating func crashOnce() throws {
        roundCount += 1
        let posts = Int.random(in: 1...Self.postLimit, using: &generator)
        let instant = CrashInstant.random(
            posts: posts,
            seesRequests: journalingUpstream != nil,
            using: &generator
        )
        let outcome = try run(posts: posts, until: instant)
        let titles = outcome.output.acceptedTitles
        accepted += titles
        switch outcome.ending {
        case .killed: killCount += 1
        case .exit(0) where titles.count == posts: escapeCount += 1
        case .exit(1) where titles.count == posts && hasRefusals: escapeCount += 1
        // On a busy machine, the upstream may not answer in time, but not in every run.
        case .exit(1) where titles.count < posts && lateCount < Self.lateLimit: lateCount += 1
        case .exit, .died: throw unexpected(outcome)
        }
    }

    /// Runs the program once, with new posts.
    private mutating func run(
        _ task: [String] = ["--publish"],
        posts: Int,
        until instant: CrashInstant?
    ) throws -> Outcome {
        let input = directory.appending(path: "input.txt")
        let lines = (0..<posts).map { number in
            // Characters of 25 bytes, enough that the store compacts its file at least once in five hundred runs.
            let body = String(repeating: "👨‍👩‍👧‍👦", count: Int.random(in: 1...1_500, using: &generator))
            let isRefused = hasRefusals && Int.random(in: 0..<6, using: &generator) == 0
            let title = "\(name)-\(roundCount)-\(number)\(isRefused ? JournalingUpstream.refusedSuffix : "")"
            return #"{"userId": 7, "title": "\#(title)", "body": "\#(body)"}"# + "\n"
        }
        try Data(lines.joined().utf8).write(to: input)
        let path = store.path(percentEncoded: false)
        let limits = hasRefusals ? ["--timeout", "0.5"] : []
        // The directory must exist before it can be watched.
        try FileManager.default.createDirectory(
            at: store,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let watch = try FileWatch(store)
        let run = try ProgramRun([upstream, "--store", path] + limits + task, input: input, errors: errors)
        journalingUpstream?.clearTrap()
        if case .request(let number, let stage) = instant {
            journalingUpstream?.setTrap(at: number, stage) { [killSwitch = run.killSwitch] in killSwitch.press() }
        }
        if case .changes(let count) = instant {
            watch.wait(for: count, orReading: run.output)
            run.killSwitch.press()
        }
        var output = Data()
        while case let part = run.read(), !part.isEmpty {
            output += part
            switch instant {
            case .lines(let count) where output.count { $0 == UInt8(ascii: "\n") } >= count,
                .bytes(let count) where output.count >= count:
                run.killSwitch.press()
            default: break
            }
        }
        return Outcome(output: String(decoding: output, as: UTF8.self), ending: run.wait())
    }

    private func unexpected(_ outcome: Outcome) -> UnexpectedEnding {
        UnexpectedEnding(
            description: """
                A run ended with \(outcome.ending) and printed “\(outcome.output)”. The end of its standard error was \
                “\(complaints.suffix(2_000))”.
                """
        )
    }
}

extension String {
    /// The titles of accepted posts. An incomplete last line does not count.
    fileprivate var acceptedTitles: [String] {
        split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
            guard line.hasPrefix("Line "), let what = line.firstRange(of: ": Accepted as post ") else { return nil }
            return line[what.upperBound...].firstRange(of: ": ").map { String(line[$0.upperBound...]) }
        }
    }
}
