import InwardTesting
import Testing

@testable import InwardCore

/// The default values. Services that link this package rely on them, so a change of a default must be announced to
/// users.
struct DefaultsTests {
    @Test func repositoryErrorCannotBeRetriedByDefault() {
        let error = RepositoryError(.unavailable, request: "GET /users", explanation: "failed")
        #expect(!error.canRetry)
        #expect(error.retryAfter == nil)
    }

    @Test func readingIsFreshAndCompleteByDefault() {
        let reading = Reading(1, origin: .upstream)
        #expect(reading.age == .zero)
        #expect(!reading.isStale && !reading.isPending)
        #expect(reading.rejected.isEmpty && reading.fallbackReason == nil)
    }

    @Test func oneThousandKindsOfErrorsAreRememberedByDefault() {
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
        // This kind replaces the oldest one.
        handler.handle(NumberedError(number: 1_000))
        handler.handle(NumberedError(number: 0))
        #expect(count() == 1_002)
    }
}
