import InwardTesting
import Synchronization

/// What the upstream does for a while, and how its clients behave then.
enum LoadPhase: Int, CaseIterable, AtomicRepresentable {
    /// Some of everything goes wrong.
    case faults
    /// Clients leave no time between requests, and the upstream says that they are too many.
    case flood
    /// Nearly nothing is answered well.
    case outage
    /// All goes well.
    case calm

    /// What is done to requests.
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

    /// How many milliseconds a client waits between two requests.
    var pause: ClosedRange<Int> {
        switch self {
        case .flood: 0...1
        case .faults, .outage: 0...40
        case .calm: 5...60
        }
    }
}
