import InwardTesting
import Synchronization

/// A phase of the run, with a behavior of the upstream and of its clients.
enum LoadPhase: Int, CaseIterable, AtomicRepresentable {
    /// Every fault occurs occasionally.
    case faults
    /// Clients hardly pause between requests, and the upstream often answers 429 or 503.
    case flood
    /// Almost all requests fail.
    case outage
    /// All requests succeed.
    case calm

    /// The faults of the phase.
    var plan: ChaosPlan {
        let latency = Duration.zero ... .milliseconds(4)
        return switch self {
        case .faults:
            ChaosPlan(
                [
                    .unreachable: 0.02, .interrupted: 0.02, .timedOut: 0.01, .failed: 0.03, .unavailable: 0.02,
                    .tooManyRequests: 0.01, .unanswered: 0.01, .truncated: 0.01, .garbled: 0.01,
                ],
                latency: latency,
                slowShare: 0.03,
                slowFactor: 40,
                retryAfter: nil
            )
        case .flood:
            ChaosPlan(
                [.tooManyRequests: 0.05, .unavailable: 0.05, .unanswered: 0.005],
                latency: latency,
                slowShare: 0.02,
                slowFactor: 20,
                retryAfter: .seconds(1)
            )
        case .outage:
            ChaosPlan(
                [.unreachable: 0.3, .failed: 0.3, .unanswered: 0.1, .interrupted: 0.2],
                latency: latency,
                retryAfter: .zero
            )
        case .calm: ChaosPlan([:], latency: latency)
        }
    }

    /// The pause of a client between two requests, in milliseconds.
    var pause: ClosedRange<Int> {
        switch self {
        case .flood: 0...1
        case .faults, .outage: 0...40
        case .calm: 5...60
        }
    }
}
