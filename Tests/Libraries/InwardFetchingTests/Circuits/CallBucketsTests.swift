import Testing

@testable import InwardFetching

struct CallBucketsTests {
    private let failure = CallOutcome(isFailure: true, isSlow: false)

    /// A last while of ten seconds is ten buckets of one.
    private func buckets(callsAt seconds: [Double]) -> CallBuckets {
        var buckets = CallBuckets(duration: .seconds(10))
        for moment in seconds { buckets.record(failure, at: .seconds(moment)) }
        return buckets
    }

    @Test(arguments: [([0, 9.99], 2), ([0, 10], 1), ([0.99, 10], 1), ([1, 10.99], 2), ([1, 2, 3, 11], 3)])
    func callsAreForgottenOneTenthAfterAnother(moments: [Double], count: Int) {
        #expect(buckets(callsAt: moments).counts.calls == count)
        #expect(buckets(callsAt: moments).counts.failures == count)
    }

    /// The first bucket behind a silence begins with its first call, however long it was.
    @Test(arguments: [
        ([1_000.5, 1_010.4], 2), ([1_000.5, 1_010.5], 1), ([1e12 + 0.5, 1e12 + 10.25], 2),
        // A silence that is hardly longer than what is counted.
        ([13.25, 23.125], 2), ([13.25, 23.25], 1),
    ])
    func everythingIsForgottenAfterASilence(moments: [Double], count: Int) {
        #expect(buckets(callsAt: [0, 1, 2] + moments).counts.calls == count)
    }
}
