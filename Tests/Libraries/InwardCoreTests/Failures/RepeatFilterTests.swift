import InwardCore
import InwardTesting
import TestSupport
import Testing

struct RepeatFilterTests {
    private struct OtherError: Error, CustomStringConvertible {
        let description: String
    }

    private var filter = RepeatFilter<ManualClock.Instant>(window: .seconds(10), capacity: 3)

    /// Returns what passes when an error arrives at a time.
    private mutating func passing(_ name: String, at seconds: Int) -> [String] {
        filter.passing(ExampleError(name), at: ManualClock.Instant(offset: .seconds(seconds))).map { "\($0)" }
    }

    /// Returns what passes when the filter is closed.
    private mutating func closing() -> [String] {
        filter.close().map { "\($0)" }
    }

    @Test mutating func firstErrorOfAKindPassesAndRepeatsDoNot() {
        #expect(passing("a", at: 0) == ["a"])
        #expect(passing("a", at: 0) == [])
        #expect(passing("b", at: 1) == ["b"])
        #expect(passing("a", at: 9) == [])
        #expect(passing("b", at: 9) == [])
    }

    @Test mutating func errorsOfDifferentTypesAreDifferentKinds() {
        #expect(passing("a", at: 0) == ["a"])
        let others = filter.passing(OtherError(description: "a"), at: ManualClock.Instant(offset: .zero))
        #expect(others.map { $0 is OtherError } == [true])
        #expect(passing("a", at: 0) == [])
    }

    @Test mutating func onlyTheBeginningOfALongDescriptionIsCompared() {
        let beginning = String(repeating: "a", count: 2_000)
        #expect(passing(beginning + "b", at: 0).count == 1)
        #expect(passing(beginning + "c", at: 1).isEmpty)
        #expect(passing("b" + beginning, at: 2).count == 1)
    }

    @Test mutating func errorPassesAgainAfterTheWindow() {
        #expect(passing("a", at: 0) == ["a"])
        #expect(passing("a", at: 10) == ["a"])
        #expect(passing("a", at: 19) == [])
        #expect(passing("a", at: 20) == ["a (and once more within 10.0 seconds)", "a"])
    }

    @Test mutating func repeatsDoNotExtendTheWindow() {
        #expect(passing("a", at: 0) == ["a"])
        #expect(passing("a", at: 8) == [])
        #expect(passing("a", at: 9) == [])
        #expect(passing("a", at: 12) == ["a (and 2 times more within 10.0 seconds)", "a"])
    }

    @Test mutating func nextErrorReportsTheRepeatsOfKindsWhoseWindowsHavePassed() {
        #expect(passing("a", at: 0) == ["a"])
        #expect(passing("b", at: 1) == ["b"])
        #expect(passing("c", at: 2) == ["c"])
        for _ in 0..<3 { #expect(passing("a", at: 3) == []) }
        for _ in 0..<2 { #expect(passing("c", at: 4) == []) }
        // No b was dropped, so none is reported, and the window of c has not passed.
        #expect(passing("d", at: 11) == ["a (and 3 times more within 10.0 seconds)", "d"])
        #expect(passing("b", at: 12) == ["c (and 2 times more within 10.0 seconds)", "b"])
    }

    @Test mutating func oldestKindIsForgottenFirstAndReported() {
        for name in ["a", "b", "c"] { #expect(passing(name, at: 0) == [name]) }
        #expect(passing("a", at: 1) == [])
        #expect(passing("b", at: 1) == [])
        #expect(passing("d", at: 2) == ["a (and once more within 10.0 seconds)", "d"])
        // The forgotten kind passes as new again, and b is the oldest now.
        #expect(passing("a", at: 3) == ["b (and once more within 10.0 seconds)", "a"])
        #expect(passing("c", at: 3) == [])
        #expect(passing("d", at: 3) == [])
    }

    @Test mutating func closingReportsAllRepeatsAndThenEveryErrorPasses() {
        for name in ["a", "b", "c"] { #expect(passing(name, at: 0) == [name]) }
        for name in ["c", "a"] { #expect(passing(name, at: 1) == []) }
        #expect(closing() == ["a (and once more within 10.0 seconds)", "c (and once more within 10.0 seconds)"])
        #expect(closing() == [])
        #expect(passing("a", at: 2) == ["a"])
        #expect(passing("a", at: 2) == ["a"])
        #expect(closing() == [])
    }

    @Test mutating func filterIgnoresATimeThatGoesBackward() {
        #expect(passing("a", at: 10) == ["a"])
        #expect(passing("a", at: 19) == [])
        #expect(passing("b", at: 5) == ["b"])
        #expect(passing("b", at: 20) == ["a (and once more within 10.0 seconds)"])
        #expect(passing("b", at: 29) == ["b (and once more within 10.0 seconds)", "b"])
    }

    @Test mutating func repeatedErrorContainsTheFirstErrorOfItsKind() throws {
        _ = passing("a", at: 0)
        _ = passing("a", at: 0)
        let reports = filter.close()
        let repeated = try #require(reports.first as? RepeatedError)
        #expect(repeated.error as? ExampleError == ExampleError("a"))
        #expect(repeated.repeats == 1)
        #expect(repeated.window == .seconds(10))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    mutating func everyErrorPassesWithoutAWindow(window: Duration) {
        filter = RepeatFilter(window: window, capacity: 3)
        for _ in 0..<3 { #expect(passing("a", at: 0) == ["a"]) }
        #expect(closing() == [])
    }

    @Test mutating func capacityIsAtLeastOneKind() {
        filter = RepeatFilter(window: .seconds(10), capacity: 0)
        #expect(passing("a", at: 0) == ["a"])
        #expect(passing("a", at: 0) == [])
        #expect(passing("b", at: 0) == ["a (and once more within 10.0 seconds)", "b"])
    }

    /// Returns what a simple filter passes, which searches all open windows for each error.
    private func expected(_ errors: [(kind: Int, time: Int)], window: Int, capacity: Int) -> [String] {
        var passing: [String] = []
        var open: [(kind: Int, time: Int, repeats: Int)] = []
        func end(_ memory: (kind: Int, time: Int, repeats: Int)) {
            guard memory.repeats > 0 else { return }
            passing.append(
                "\(RepeatedError(ExampleError(memory.kind), repeats: memory.repeats, window: .seconds(window)))"
            )
        }
        for error in errors {
            open.filter { $0.time + window <= error.time }.forEach(end)
            open.removeAll { $0.time + window <= error.time }
            if let position = open.firstIndex(where: { $0.kind == error.kind }) {
                open[position].repeats += 1
            } else {
                if open.count == capacity { end(open.removeFirst()) }
                open.append((error.kind, error.time, 0))
                passing.append("\(error.kind)")
            }
        }
        open.forEach(end)
        return passing
    }

    @Test(arguments: 1...8)
    func filterAgreesWithASlowerModel(capacity: Int) {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let window = Int.random(in: 1...20, using: &numbers)
            var time = 0
            let errors = (0..<300).map { _ in
                time += Int.random(in: 0...3, using: &numbers)
                return (kind: Int.random(in: 0..<10, using: &numbers), time: time)
            }
            var filter = RepeatFilter<ManualClock.Instant>(window: .seconds(window), capacity: capacity)
            var passing: [any Error] = []
            for error in errors {
                let instant = ManualClock.Instant(offset: .seconds(error.time))
                passing += filter.passing(ExampleError(error.kind), at: instant)
            }
            passing += filter.close()
            #expect(passing.map { "\($0)" } == expected(errors, window: window, capacity: capacity))
        }
    }
}

extension RepeatFilter {
    /// Returns the errors to pass on when an error arrives, with the kind that it defines itself.
    fileprivate mutating func passing(_ error: any Error, at now: Instant) -> [any Error] {
        passing(error, of: Kind(error), at: now)
    }
}
