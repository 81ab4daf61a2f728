import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

/// Random walks of many callers, against an origin that revokes tokens and a token endpoint that sometimes fails.
@Suite(.timeLimit(.minutes(5)))
struct CredentialsWalkTests {
    private static let interval = Duration.seconds(5)

    /// A token endpoint that records violations of the renewal rules.
    private final class Issuer: Sendable {
        struct State {
            var randomness: SplitMix64
            var token = 0
            var lastEnd: Duration?
            var isBusy = false
            var renewals = 0
            var violations: [String] = []
        }

        let state: Mutex<State>

        init(seed: UInt64) { state = Mutex(State(randomness: SplitMix64(seed: seed))) }

        /// Returns a token, or fails, after a while.
        func renew(for request: DataRequest, timer: TimerService) async throws(FetchError) -> Credential {
            let begin = timer.now
            let wait = state.withLock { state in
                if state.isBusy { state.violations.append("Two renewals at a time at \(begin).") }
                if let end = state.lastEnd, begin - end < interval {
                    state.violations.append("A renewal at \(begin), after one that ended at \(end).")
                }
                state.isBusy = true
                state.renewals += 1
                return Duration.milliseconds(Int.random(in: 0...3_000, using: &state.randomness))
            }
            try? await timer.sleep(for: wait)
            let token = state.withLock { state in
                state.isBusy = false
                state.lastEnd = timer.now
                return Int.random(in: 0..<4, using: &state.randomness) == 0 ? nil : state.token
            }
            guard let token else { throw FetchError(.unreachable, request: request, explanation: "reached nobody") }
            return .bearer("\(token)")
        }
    }

    @Test(arguments: Thoroughness.sample([UInt64](0..<40), every: 9))
    func renewalsAreNeverCloserThanTheInterval(seed: UInt64) async throws {
        let scheduler = DeterministicScheduler(seed: seed)
        let timer = scheduler.timer
        let issuer = Issuer(seed: seed)
        let request = try DataRequest.example("https://upstream.test/users")
        let origin = StubDataFetcher { request throws(FetchError) in
            try? await timer.sleep(for: .milliseconds(200))
            let isTaken = issuer.state.withLock { state in
                // Sometimes the origin starts to accept only tokens issued from now on.
                if Int.random(in: 0..<20, using: &state.randomness) == 0 { state.token += 1 }
                return request.headerFields[.authorization] == "Bearer \(state.token)"
            }
            return DataResponse(status: isTaken ? .ok : .unauthorized)
        }
        let credentials = Credentials(
            for: request.url,
            renewingAtMostEvery: Self.interval,
            timer: timer,
            executor: scheduler.executor
        ) { () async throws(FetchError) in
            try await issuer.renew(for: request, timer: timer)
        }
        let fetcher = origin.authorizing(with: credentials)
        let slowest = try await scheduler.run {
            await withTaskGroup { group in
                for caller in 0..<12 {
                    group.addTask {
                        var randomness = SplitMix64(seed: seed &* 100 &+ UInt64(caller))
                        var slowest = Duration.zero
                        for _ in 0..<30 {
                            let wait = Duration.milliseconds(Int.random(in: 0...2_000, using: &randomness))
                            try? await timer.sleep(for: wait)
                            let begin = timer.now
                            _ = try? await fetcher.fetch(request)
                            slowest = max(slowest, timer.now - begin)
                        }
                        return slowest
                    }
                }
                return await group.reduce(.zero) { max($0, $1) }
            }
        }
        let state = issuer.state.withLock(\.self)
        #expect(state.violations.isEmpty, "\(scheduler)")
        #expect(state.renewals > 1)
        // At most two requests and two renewals: no request waits for the interval.
        #expect(slowest < .milliseconds(6_500), "\(scheduler)")
    }
}
