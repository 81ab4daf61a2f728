import InwardCore
import InwardTesting
import Testing

struct StopwatchTests {
    @Test func elapsedTimeStartsAtCreation() {
        let clock = ManualClock()
        clock.advance(by: .seconds(3))
        let stopwatch = Stopwatch(clock)
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .milliseconds(1_500))
        #expect(stopwatch.elapsed == .milliseconds(1_500))
        #expect(Stopwatch(clock).elapsed == .zero)
    }
}
