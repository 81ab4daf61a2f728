import InwardCore
import Synchronization
import TestSupport
import Testing

struct ChangeReportTests {
    private let report = ChangeReport()

    @Test func eachChangeIsTold() {
        var told: [Int] = []
        for number in 1...3 { report.tell { told.append(number) } }
        #expect(told == [1, 2, 3])
    }

    @Test func aChangeDuringACallIsToldOnceMoreByTheOneWhoTells() {
        let state = Mutex(0)
        var told: [Int] = []
        report.tell {
            told.append(state.withLock(\.self))
            guard state.withLock({ $0 }) == 0 else { return }
            for _ in 0..<3 {
                state.withLock { $0 += 1 }
                report.tell { Issue.record("It is being told already.") }
            }
        }
        #expect(told == [0, 3])
        report.tell { told.append(9) }
        #expect(told == [0, 3, 9])
    }

    @Test(.timeLimit(.minutes(5))) func theLastCallIsAboutTheLastStateHoweverManyChangeIt() async {
        let counter = Counter()
        let told = Journal()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { [report] in
                    for _ in 0..<1_000 {
                        counter.add()
                        report.tell { told.add("\(counter.value)") }
                    }
                }
            }
        }
        let numbers = told.entries.compactMap { Int($0) }
        #expect(numbers.last == 8_000)
        #expect(numbers == numbers.sorted())
    }
}

struct InteractionIDTests {
    @Test func itIsCarriedToChildTasksAndNotToWhatBelongsToNone() async {
        #expect(InteractionID.current == nil)
        await InteractionID.$current.withValue(InteractionID("17")) {
            async let child = InteractionID.current?.description
            #expect(await child == "17")
            #expect(InteractionID.lifted { InteractionID.current } == nil)
        }
        #expect(InteractionID.lifted { InteractionID.current } == nil)
    }
}
