import InwardCore
import InwardFetching
import InwardTesting
import Soaking

/// Describes a run as text.
struct SoakReport {
    private let soak: Soak

    init(_ soak: Soak) {
        self.soak = soak
    }

    /// The current state, in one line.
    func line(at time: Duration) -> String {
        let sums = soak.ledger.sums
        let pipelines = soak.pipelines
        return [
            "\(time.components.seconds) s, \(soak.upstream.phase)",
            "begun \(sums.begun), ended \(sums.ended)",
            "\(Int((residentMemory() ?? 0).rounded())) MiB",
            "timers \(soak.timer.count)",
            "fixed \(pipelines.fixed.underWay)/\(pipelines.fixed.limit)+\(pipelines.fixed.waiting)",
            "adaptive \(pipelines.adaptive.underWay)/\(pipelines.adaptive.limit)+\(pipelines.adaptive.waiting)",
            "\(pipelines.breaker.state)",
            "longest \(milliseconds(sums.longest))",
            "largest overrun \(milliseconds(sums.worstExcess))",
        ].joined(separator: "; ")
    }

    /// The result of the run, in lines.
    var summary: [String] {
        let sums = soak.ledger.sums
        var lines = ["", "| outcome | requests |", "|---|---|", "| begun | \(sums.begun) |"]
        lines += rows(sums.outcomes)
        lines += ["", "| event | times |", "|---|---|"] + rows(soak.events.counts)
        lines += ["| token requested | \(soak.issuer.count) |"]
        lines += ["", "| upstream | requests | sent | faulty | slow | abandoned |", "|---|---|---|---|---|---|"]
        lines += soak.upstream.counts.map { phase, counts in
            let numbers = [counts.requests, counts.sent, counts.faulty, counts.slow, counts.abandoned]
            return "| \(phase) | \(numbers.map(String.init).joined(separator: " | ")) |"
        }
        lines += [
            "", "Longest request: \(milliseconds(sums.longest)). Largest overrun: \(milliseconds(sums.worstExcess)).",
        ]
        return lines
    }

    private func rows(_ counts: [String: Int]) -> [String] {
        counts.sorted { $0.key < $1.key }.map { "| \($0.key) | \($0.value) |" }
    }

    private func milliseconds(_ duration: Duration) -> String { "\(Int(duration / .milliseconds(1))) ms" }
}
