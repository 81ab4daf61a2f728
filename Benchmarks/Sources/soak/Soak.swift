import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import Soaking
import Synchronization

/// Runs many clients of pipelines with every decorator against an upstream that has faults until the last tenth of the run.
final class Soak: Sendable {
    /// How late anything may be, because the machine may be busy.
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

    /// Runs for the given duration, and prints the result.
    func run() async {
        for fetcher in pipelines.fetchers { if let first = fetcher.first { say("\(first.pipeline)\n") } }
        let start = timer.now
        // The last tenth is free of faults.
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
        for finding in findings.descriptions { say("Problem: \(finding)") }
        say(findings.isEmpty ? "No problems found." : "\(findings.descriptions.count) problems found.")
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
                // Half of the clients run on the pool, the others on the default executor.
                group.addTask(executorPreference: number.isMultiple(of: 2) ? pool : nil) { [seed = seeds.next()] in
                    await client.run(until: end, seed: seed)
                }
            }
        }
    }

    /// Changes the phases, and checks the state every second.
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
            if lateness > Self.slack { hang("A request is \(lateness) late and has not ended.") }
            try? await Task.sleep(for: min(.seconds(1), stride / 4))
        }
    }

    /// Waits until nothing is busy, up to a limit.
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
                ("timers are scheduled", timer.count), ("the upstream has unanswered requests", upstream.underWay),
                ("attempts are in flight", attempts), ("clients wait", ledger.underWay),
            ].filter { $0.1 != 0 }.map { "\($0.0): \($0.1)" }
    }

    /// Requests new paths one after the other while the upstream is free of faults.
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
        if pipelines.breaker.state != .closed {
            findings.add("\(pipelines.breaker) although the upstream is free of faults.")
        }
        var failed = 0
        for index in number..<(number + count) {
            for fetcher in fetchers where await !passes(index, fetcher) { failed += 1 }
        }
        if failed * 20 > count * fetchers.count {
            findings.add("\(failed) of the last requests failed although the upstream is free of faults.")
        }
    }

    private func judge() {
        let sums = ledger.sums
        let counts = events.counts
        if sums.begun != sums.ended { findings.add("Of \(sums.begun) requests, only \(sums.ended) have ended.") }
        if counts["request ended"] != sums.begun {
            findings.add("Of \(sums.begun) requests, the observer saw only \(counts["request ended", default: 0]) end.")
        }
        if sums.worstExcess > Self.slack { findings.add("A request exceeded its limit by \(sums.worstExcess).") }
        for event in EventCounter.expected where counts[event] == nil { findings.add("Never happened: \(event).") }
        if let finding = memory.withLock({ $0.finding(in: length) }) { findings.add(finding) }
        let sizes = memory.withLock { $0.tenths(of: length) }.map { "\(Int($0.rounded()))" }
        say("\nPeak memory in each tenth of the run, in MiB: \(sizes.joined(separator: " "))")
    }

    /// Exits, because waiting for a request that hangs would take forever.
    private func hang(_ finding: String) -> Never {
        SoakReport(self).summary.forEach(say)
        say("Problem: \(finding)")
        exit(1)
    }
}
