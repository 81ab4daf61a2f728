import InwardTesting
import Testing

@testable import InwardCore

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func anErrorDoesNotPromiseThatARetryHelps() {
        let error = RepositoryError(.unavailable, request: "GET /users", explanation: "failed")
        #expect(!error.canRetry)
        #expect(error.retryAfter == nil)
    }

    @Test func aReadingIsNewFreshAndWhole() {
        let reading = Reading(1, origin: .upstream)
        #expect(reading.age == .zero)
        #expect(!reading.isStale && !reading.isPending)
        #expect(reading.rejected.isEmpty && reading.fallbackReason == nil)
    }

    @Test func aThousandKindsOfErrorsAreRemembered() {
        struct NumberedError: Error, Hashable, CustomStringConvertible {
            let number: Int
            var description: String { "The error \(number)" }
        }
        let recorder = RecordingErrorHandler()
        let handler = recorder.droppingRepeats(within: .seconds(60), clock: ManualClock())
        func count() -> Int { recorder.errors.count { $0 is NumberedError } }
        for number in 0..<1_000 { handler.handle(NumberedError(number: number)) }
        handler.handle(NumberedError(number: 0))
        #expect(count() == 1_000)
        // This takes the place of the oldest.
        handler.handle(NumberedError(number: 1_000))
        handler.handle(NumberedError(number: 0))
        #expect(count() == 1_002)
    }
}
