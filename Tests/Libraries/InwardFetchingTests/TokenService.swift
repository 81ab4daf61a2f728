import InwardCore
import InwardFetching
import Synchronization

/// A token endpoint that issues the tokens 1, 2, 3 and so on, as planned.
final class TokenService: Sendable {
    struct OnHoliday: Error, CustomStringConvertible { let description = "the token service\nis on holiday" }

    private struct State {
        var lifetime: Duration?
        var duration = Duration.zero
        var failures = 0
        var refuses = false
        var count = 0
        var token = 0
    }

    private let state = Mutex(State())

    /// The number of requests for a token.
    var count: Int { state.withLock(\.count) }

    /// Plans the responses: the lifetime of a token, the duration of a response, how many failures come first, and whether
    /// there are no more tokens.
    func plan(lifetime: Duration? = nil, duration: Duration = .zero, failures: Int = 0, refuses: Bool = false) {
        state.withLock { ($0.lifetime, $0.duration, $0.failures, $0.refuses) = (lifetime, duration, failures, refuses) }
    }

    func next(_ timer: TimerService) async throws -> Credential? {
        let duration = state.withLock { state in
            state.count += 1
            return state.duration
        }
        if duration > .zero { try await timer.sleep(for: duration) }
        return try state.withLock { state in
            if state.refuses { return nil }
            if state.failures > 0 {
                state.failures -= 1
                throw OnHoliday()
            }
            state.token += 1
            return .bearer("\(state.token)", expiresIn: state.lifetime)
        }
    }
}
