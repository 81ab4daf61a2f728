import Testing

@testable import InwardFetching

struct CallBucketsTests {
    private let failure = CallOutcome(isFailure: true, isSlow: false)

    /// Returns a window of ten seconds, with ten buckets of one second, after calls at the given seconds.
    private func buckets(callsAt seconds: [Double]) -> CallBuckets {
        var buckets = CallBuckets(duration: .seconds(10))
        for moment in seconds { buckets.record(failure, at: .seconds(moment)) }
        return buckets
    }

    @Test(arguments: [([0, 9.99], 2), ([0, 10], 1), ([0.99, 10], 1), ([1, 10.99], 2), ([1, 2, 3, 11], 3)])
    func callsExpireATenthOfTheWindowAtATime(moments: [Double], count: Int) {
        #expect(buckets(callsAt: moments).counts.calls == count)
        #expect(buckets(callsAt: moments).counts.failures == count)
    }

    /// After an idle time of any length, the first bucket begins at its first call.
    @Test(arguments: [
        ([1_000.5, 1_010.4], 2), ([1_000.5, 1_010.5], 1), ([1e12 + 0.5, 1e12 + 10.25], 2),
        // An idle time that is hardly longer than the window.
        ([13.25, 23.125], 2), ([13.25, 23.25], 1),
    ])
    func allCallsExpireDuringALongIdleTime(moments: [Double], count: Int) {
        #expect(buckets(callsAt: [0, 1, 2] + moments).counts.calls == count)
    }
}
