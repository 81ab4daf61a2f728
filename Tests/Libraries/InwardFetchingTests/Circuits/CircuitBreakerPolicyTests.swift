import InwardCore
import TestSupport
import Testing

@testable import InwardFetching

struct CircuitBreakerPolicyTests {
    private func error(_ reason: FetchError.Reason) throws -> FetchError {
        FetchError(reason, request: try .example(), explanation: "failed")
    }

    @Test func standardPolicyHasTheDocumentedValues() {
        let policy = CircuitBreakerPolicy.standard
        #expect(policy.window == .calls(20))
        #expect(policy.minimumCalls == 10)
        #expect(policy.failureRateThreshold == 0.5)
        #expect(policy.slowCalls == nil)
        #expect(policy.openDuration == .seconds(10))
        #expect(policy.maximumOpenDuration == .seconds(60))
        #expect(policy.probes == 3)
        #expect(policy.failures == .standard)
    }

    @Test(arguments: [
        (CircuitBreakerPolicy.Window.calls(.min), CircuitBreakerPolicy.Window.calls(1)), (.calls(0), .calls(1)),
        (.calls(10_000), .calls(10_000)), (.calls(.max), .calls(10_000)), (.time(.zero), .time(.milliseconds(1))),
        (.time(.seconds(-1)), .time(.milliseconds(1))), (.time(.seconds(Int64.max)), .time(.seconds(86_400))),
    ])
    func windowsAreClamped(window: CircuitBreakerPolicy.Window, kept: CircuitBreakerPolicy.Window) {
        #expect(CircuitBreakerPolicy(window: window).window == kept)
    }

    @Test(arguments: [(Int.min, 1), (0, 1), (5, 5), (6, 5), (.max, 5)])
    func minimumCallsAreClampedToTheCapacityOfTheWindow(calls: Int, enough: Int) {
        #expect(CircuitBreakerPolicy(window: .calls(5), minimumCalls: calls).minimumCalls == enough)
    }

    @Test func timeBasedWindowDoesNotLimitTheMinimumCalls() {
        #expect(CircuitBreakerPolicy(window: .time(.seconds(1)), minimumCalls: 123_456).minimumCalls == 123_456)
    }

    @Test(arguments: [
        (0.3, 0.3), (0, 0.01), (-1, 0.01), (-.infinity, 0.01), (1, 1), (1.5, 1), (.infinity, 1), (.nan, 1),
    ])
    func ratesAreClamped(share: Double, kept: Double) {
        #expect(CircuitBreakerPolicy(failureRateThreshold: share).failureRateThreshold == kept)
        #expect(CircuitBreakerPolicy.SlowCalls(.seconds(1), share: share).share == kept)
    }

    @Test(arguments: [
        (Duration.zero, Duration.milliseconds(1)), (.seconds(-1), .milliseconds(1)), (.seconds(2), .seconds(2)),
        (.seconds(Int64.max), .seconds(86_400)),
    ])
    func durationsAreClamped(duration: Duration, kept: Duration) {
        #expect(CircuitBreakerPolicy.SlowCalls(duration).duration == kept)
        let policy = CircuitBreakerPolicy(openDuration: duration, maximumOpenDuration: .zero)
        #expect(policy.openDuration == kept)
        #expect(policy.maximumOpenDuration == kept)
        #expect(CircuitBreakerPolicy(maximumOpenDuration: .seconds(Int64.max)).maximumOpenDuration == .seconds(86_400))
    }

    @Test(arguments: [(Int.min, 1), (0, 1), (7, 7), (.max, 1_000)])
    func numberOfProbesIsClamped(probes: Int, kept: Int) {
        #expect(CircuitBreakerPolicy(probes: probes).probes == kept)
    }

    @Test(arguments: [FetchError.Reason.cancelled, .closed, .rejected, .addressRefused])
    func failuresBeforeReachingTheUpstreamAreInconclusive(reason: FetchError.Reason) throws {
        // They are inconclusive even if the criteria list the reason.
        let policy = CircuitBreakerPolicy(failures: FailureCriteria(reasons: [reason]))
        #expect(policy.isFailure(try error(reason)) == nil)
    }

    @Test func invalidRequestsCountOnlyIfTheCriteriaListThem() throws {
        #expect(CircuitBreakerPolicy.standard.isFailure(try error(.invalidRequest)) == nil)
        let strict = CircuitBreakerPolicy(failures: FailureCriteria(reasons: [.invalidRequest]))
        #expect(strict.isFailure(try error(.invalidRequest)) == true)
    }

    @Test func outcomesThatAreNotFailuresAreSuccesses() throws {
        for reason in [FetchError.Reason.tooLarge, .tooManyRedirects, .unreadable, .unsuccessful] {
            #expect(CircuitBreakerPolicy.standard.isFailure(try error(reason)) == false)
        }
        #expect(CircuitBreakerPolicy.standard.isFailure(try error(.timedOut)) == true)
        #expect(CircuitBreakerPolicy.standard.isFailure(DataResponse(status: 404)) == false)
        #expect(CircuitBreakerPolicy.standard.isFailure(DataResponse(status: 503)) == true)
    }

    @Test func responsesFromMemoryAndFallbacksAreInconclusive() throws {
        var kept = DataResponse()
        kept.origin = .memory
        #expect(CircuitBreakerPolicy.standard.isFailure(kept) == nil)
        var standIn = DataResponse()
        standIn.fallbackReason = try error(.unreachable)
        #expect(CircuitBreakerPolicy.standard.isFailure(standIn) == nil)
    }
}
