import Foundation
import InwardTesting

/// Runs the program over one store again and again, one run behind the other, and kills it.
///
/// It blocks its thread.
struct CrashLane: Sendable {
    /// What came of a run.
    private struct Outcome {
        let output: String
        let ending: ProgramRun.Ending
    }

    /// A run that ended as none does.
    struct UnexpectedEnding: Error, CustomStringConvertible {
        let description: String
    }

    /// The most posts that a run is given.
    private static let postLimit = 4
    /// How often a run may fail for want of an answer.
    private static let lateLimit = 50

    private let name: String
    private let directory: URL
    /// The address of the upstream.
    let upstream: String
    private let journalingUpstream: JournalingUpstream?
    /// Whether some posts are refused, and attempts are given up soon.
    private let hasRefusals: Bool
    private var generator: SplitMix64

    /// The titles of the posts that the program has said to have accepted.
    private(set) var accepted: [String] = []
    /// How often it was killed before it came to its end.
    private(set) var killCount = 0
    /// How often it came to its end before it was to be killed.
    private(set) var escapeCount = 0
    /// How often it came to its end without that everything was accepted.
    private(set) var lateCount = 0
    /// What the program lists of its outbox when everything is delivered.
    private(set) var listing = ""
    private var roundCount = 0

    /// Makes a lane that nobody else has the name or the directory of.
    ///
    /// - Parameters:
    ///   - name: What the titles of its posts begin with.
    ///   - directory: Where its store is, which is there.
    ///   - upstream: The address of the upstream.
    ///   - journalingUpstream: What answers there, if that is the test's own.
    ///   - hasRefusals: Whether some posts are titled so that they are refused, and attempts are given up soon.
    ///   - seed: What all of it follows from, but for what the processes do.
    /// - Throws: why nothing can be written there.
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

    /// What the program said on standard error.
    var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    private var errors: URL { directory.appending(path: "errors.txt") }

    /// Has the program publish until it was killed so many times and has accepted something, and then lets it deliver what is left.
    mutating func crash(times: Int) throws {
        while killCount < times || accepted.isEmpty { try crashOnce() }
        var isDelivered = false
        while !isDelivered {
            let outcome = try run(posts: 0, until: nil)
            guard outcome.ending == .exit(0) || hasRefusals && outcome.ending == .exit(1) else {
                throw unexpected(outcome)
            }
            listing = try run(["--outbox"], posts: 0, until: nil).output
            // A refusal after an attempt that may have arrived proves nothing, so such a post stays pending until somebody discards it.
            isDelivered = listing.split(separator: "\n").allSatisfy { line in
                !line.contains("  \(name)-") || line.contains(JournalingUpstream.refusedSuffix)
            }
        }
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
        // A machine may be so busy that the upstream does not answer in time. It is not so all the time.
        case .exit(1) where titles.count < posts && lateCount < Self.lateLimit: lateCount += 1
        case .exit, .died: throw unexpected(outcome)
        }
    }

    /// Runs the program once, with so many new posts.
    private mutating func run(
        _ task: [String] = ["--publish"],
        posts: Int,
        until instant: CrashInstant?
    ) throws -> Outcome {
        let input = directory.appending(path: "input.txt")
        let lines = (0..<posts).map { number in
            // Characters of 25 bytes, so many that the store puts its file anew once or more in five hundred runs.
            let body = String(repeating: "👨‍👩‍👧‍👦", count: Int.random(in: 1...1_500, using: &generator))
            let isRefused = hasRefusals && Int.random(in: 0..<6, using: &generator) == 0
            let title = "\(name)-\(roundCount)-\(number)\(isRefused ? JournalingUpstream.refusedSuffix : "")"
            return #"{"userId": 7, "title": "\#(title)", "body": "\#(body)"}"# + "\n"
        }
        try Data(lines.joined().utf8).write(to: input)
        let path = store.path(percentEncoded: false)
        let limits = hasRefusals ? ["--timeout", "0.5"] : []
        // It has to be there before it can be watched.
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
                A run ended with \(outcome.ending) and printed “\(outcome.output)”; on standard error there was last \
                “\(complaints.suffix(2_000))”.
                """
        )
    }
}

extension String {
    /// The titles that whole lines say to be accepted. A line that is not whole promises nothing.
    fileprivate var acceptedTitles: [String] {
        split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
            guard line.hasPrefix("Line "), let what = line.firstRange(of: ": Accepted as post ") else { return nil }
            return line[what.upperBound...].firstRange(of: ": ").map { String(line[$0.upperBound...]) }
        }
    }
}
