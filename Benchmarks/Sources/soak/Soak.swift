import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Soaking
import Synchronization

/// Many clients of pipelines of every decorator to an upstream that is bad in several ways, and at last good.
final class Soak: Sendable {
    /// How much later than it should anything may end, on a machine that has other things to do.
    static let slack = Duration.seconds(5)
    private static let clients = 128

    let findings = Findings()
    let timer = TimerService(ContinuousClock())
    let ledger = Ledger()
    let events = EventCounter()
    let issuer: TokenIssuer
    let upstream: Upstream
    let pipelines: Pipelines
    let length: Duration
    private let seed: UInt64
    private let pool = ThreadPool(threads: 8)
    private let memory = Mutex(MemorySeries())

    init(seconds: Int, seed: UInt64) {
        length = .seconds(seconds)
        self.seed = seed
        issuer = TokenIssuer(lifetime: 2_000, timer: timer, findings: findings)
        upstream = Upstream(EchoingDataFetcher(issuer: issuer, findings: findings), seed: seed, timer: timer)
        pipelines = Pipelines(to: upstream, issuer: issuer, events: events, timer: timer)
    }

    /// Runs for as long as it is to, and says what came of it.
    func run() async {
        for fetcher in pipelines.fetchers { if let first = fetcher.first { say("\(first.pipeline)\n") } }
        let start = timer.now
        // The last tenth is calm.
        let end = start + length
        let calm = start + length * 9 / 10
        await withTaskGroup { group in
            group.addTask { await self.serve(from: start, until: end) }
            group.addTask { await self.watch(from: start, until: calm, end) }
        }
        await drain()
        await examine()
        await drain()
        judge()
        SoakReport(self).summary.forEach(say)
        for finding in findings.descriptions { say("WRONG: \(finding)") }
        say(findings.isEmpty ? "Nothing is wrong." : "\(findings.descriptions.count) things are wrong.")
    }

    private func serve(from start: Duration, until end: Duration) async {
        var seeds = SplitMix64(seed: seed)
        let client = Client(
            fetchers: pipelines.fetchers,
            upstream: upstream,
            ledger: ledger,
            findings: findings,
            timer: timer
        )
        await withTaskGroup { group in
            for number in 0..<Self.clients {
                // Half of them wherever there is room.
                group.addTask(executorPreference: number.isMultiple(of: 2) ? pool : nil) { [seed = seeds.next()] in
                    await client.run(until: end, seed: seed)
                }
            }
        }
    }

    /// Changes the phases, and looks every second whether all is well.
    private func watch(from start: Duration, until calm: Duration, _ end: Duration) async {
        let stride = min(.seconds(5), length / 40)
        let interval = min(.seconds(30), length / 10)
        var reported = start
        while timer.now < end || ledger.underWay > 0 {
            let now = timer.now
            let phase = Int((now - start) / stride) % LoadPhase.allCases.count
            upstream.phase = now < calm ? LoadPhase.allCases[phase] : .calm
            issuer.isUnreliable.store(now < calm, ordering: .relaxed)
            memory.withLock { $0.sample(at: now - start) }
            if now - reported >= interval {
                reported = now
                say(SoakReport(self).line(at: now - start))
            }
            let lateness = ledger.lateness(at: now)
            if lateness > Self.slack { hang("A request is late by \(lateness), and has not ended.") }
            try? await Task.sleep(for: min(.seconds(1), stride / 4))
        }
    }

    /// Waits until everything is at rest, and not for ever.
    private func drain() async {
        let latest = timer.now + Pipelines.totalLimit + Self.slack
        while !unrest.isEmpty, timer.now < latest { try? await Task.sleep(for: .milliseconds(20)) }
        for unrest in unrest { findings.add("At the end, \(unrest).") }
    }

    private var unrest: [String] {
        let counts = events.counts
        let attempts = counts["attempt began", default: 0] - counts["attempt ended", default: 0]
        return pipelines.unrest
            + [
                ("timers run", timer.count), ("the upstream has requests", upstream.underWay),
                ("attempts are under way", attempts), ("clients wait", ledger.underWay),
            ].filter { $0.1 != 0 }.map { "\($0.0): \($0.1)" }
    }

    /// Asks for what nobody has asked for yet, one after the other, while all goes well.
    private func examine() async {
        let count = 200
        let latest = timer.now + .seconds(10)
        func passes(_ number: Int, _ fetcher: any DataFetcher) async -> Bool {
            let url = URL(string: "http://\(EchoingDataFetcher.guarded)/exam/\(50 * number + 1)") ?? URL(filePath: "/")
            let index = ledger.begin(at: timer.now, allowed: Pipelines.totalLimit * 2)
            let result = await Client.result(of: DataRequest(url: url), from: fetcher)
            var passes = false
            if case .success(let response) = result {
                passes = response.status == .ok && response.fallbackReason == nil && response.origin == .upstream
            }
            _ = ledger.end(index, passes ? "exam passed" : "exam failed", at: timer.now)
            return passes
        }
        let fetchers = pipelines.fetchers.compactMap(\.first)
        var number = 0
        while pipelines.breaker.state != .closed, timer.now < latest {
            for fetcher in fetchers { _ = await passes(number, fetcher) }
            number += 1
        }
        if pipelines.breaker.state != .closed { findings.add("\(pipelines.breaker) though all goes well.") }
        var failed = 0
        for index in number..<(number + count) {
            for fetcher in fetchers where await !passes(index, fetcher) { failed += 1 }
        }
        if failed * 20 > count * fetchers.count {
            findings.add("Of the last requests \(failed) failed though all goes well.")
        }
    }

    private func judge() {
        let sums = ledger.sums
        let counts = events.counts
        if sums.begun != sums.ended { findings.add("Of \(sums.begun) requests \(sums.ended) have ended.") }
        if counts["request ended"] != sums.begun {
            findings.add("Of \(sums.begun) requests the observer saw \(counts["request ended", default: 0]) end.")
        }
        if sums.worstExcess > Self.slack { findings.add("A request took \(sums.worstExcess) too long.") }
        for event in EventCounter.expected where counts[event] == nil { findings.add("Never happened: \(event).") }
        if let finding = memory.withLock({ $0.finding(in: length) }) { findings.add(finding) }
        let sizes = memory.withLock { $0.tenths(of: length) }.map { "\(Int($0.rounded()))" }
        say("\nThe most memory in each tenth of the run, in MiB: \(sizes.joined(separator: " "))")
    }

    /// Ends the program, because who waits for a request that hangs waits for ever.
    private func hang(_ finding: String) -> Never {
        SoakReport(self).summary.forEach(say)
        say("WRONG: \(finding)")
        exit(1)
    }
}
