import InwardCore
import Testing

@Suite(.timeLimit(.minutes(5)))
struct StripedMutexTests {
    @Test func threadFindsItsValueAgain() {
        let mutex = StripedMutex(0)
        for count in 1...10 {
            let value = mutex.withLock { value in
                value += 1
                return value
            }
            #expect(value == count)
        }
        var values: [Int] = []
        mutex.withEachLock { values.append($0) }
        #expect(values.sorted() == Array(repeating: 0, count: 15) + [10])
    }

    @Test func noChangeOfConcurrentTasksIsLost() async {
        let mutex = StripedMutex(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { mutex.withLock { $0 += 1 } } }
            }
        }
        var sum = 0
        mutex.withEachLock { sum += $0 }
        #expect(sum == 80_000)
    }
}
