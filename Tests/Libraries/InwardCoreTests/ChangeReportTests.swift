import InwardCore
import Synchronization
import TestSupport
import Testing

struct ChangeReportTests {
    private let report = ChangeReport()

    @Test func eachChangeIsReported() {
        var reported: [Int] = []
        for number in 1...3 { report.tell { reported.append(number) } }
        #expect(reported == [1, 2, 3])
    }

    @Test func changeDuringANotificationIsReportedByTheSameCaller() {
        let state = Mutex(0)
        var reported: [Int] = []
        report.tell {
            reported.append(state.withLock(\.self))
            guard state.withLock({ $0 }) == 0 else { return }
            for _ in 0..<3 {
                state.withLock { $0 += 1 }
                report.tell { Issue.record("A notification is already running.") }
            }
        }
        #expect(reported == [0, 3])
        report.tell { reported.append(9) }
        #expect(reported == [0, 3, 9])
    }

    @Test(.timeLimit(.minutes(5))) func lastNotificationReportsTheFinalState() async {
        let counter = Counter()
        let reported = Journal()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { [report] in
                    for _ in 0..<1_000 {
                        counter.add()
                        report.tell { reported.add("\(counter.value)") }
                    }
                }
            }
        }
        let numbers = reported.entries.compactMap { Int($0) }
        #expect(numbers.last == 8_000)
        #expect(numbers == numbers.sorted())
    }
}

struct InteractionIDTests {
    @Test func identifierPropagatesToChildTasksButNotToLiftedWork() async {
        #expect(InteractionID.current == nil)
        await InteractionID.$current.withValue(InteractionID("17")) {
            async let child = InteractionID.current?.description
            #expect(await child == "17")
            #expect(InteractionID.lifted { InteractionID.current } == nil)
        }
        #expect(InteractionID.lifted { InteractionID.current } == nil)
    }
}
