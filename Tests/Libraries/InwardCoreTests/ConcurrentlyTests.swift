import InwardCore
import InwardTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ConcurrentlyTests {
    private struct Problem: Error, Equatable {
        let name: String
    }

    @Test func bothAreUnderWayAtTheSameTime() async throws {
        let both = Rendezvous(of: 2)
        let (first, second) = await concurrently(
            { () async throws(Never) in
                await both.arrive()
                return 1
            },
            { () async throws(Never) in
                await both.arrive()
                return "two"
            }
        )
        #expect(first == .success(1) && second == "two")
    }

    @Test func workThatDoesNotSuspendIsDoneInOrder() async {
        let steps = Mutex<[Int]>([])
        _ = await concurrently(
            { () async throws(Never) in steps.withLock { $0.append(1) } },
            { () async throws(Never) in steps.withLock { $0.append(2) } }
        )
        #expect(steps.withLock { $0 } == [1, 2])
    }

    @Test func failureOfTheFirstIsAResult() async {
        let (first, second) = await concurrently(
            { () async throws(Problem) -> Int in throw Problem(name: "first") },
            { () async throws(Never) in 2 }
        )
        #expect(first == .failure(Problem(name: "first")) && second == 2)
    }

    @Test func failureOfTheSecondCancelsTheFirstAndWaitsForIt() async {
        let isCancelled = Mutex(false)
        await #expect(throws: Problem(name: "second")) {
            try await concurrently(
                { () async throws(Never) in
                    // Ends only when it is cancelled.
                    await Rendezvous(of: 2).arrive()
                    isCancelled.withLock { $0 = Task.isCancelled }
                },
                { () async throws(Problem) -> Int in throw Problem(name: "second") }
            )
        }
        #expect(isCancelled.withLock { $0 })
    }

    @Test func cancellationOfTheCallerReachesBoth() async {
        let begun = Rendezvous(of: 3)
        let results = await withTaskGroup { group in
            group.addTask {
                await concurrently(
                    { () async throws(Never) in await Self.isCancelled(after: begun) },
                    { () async throws(Never) in await Self.isCancelled(after: begun) }
                )
            }
            await begun.arrive()
            group.cancelAll()
            return await group.next()
        }
        #expect(results?.0 == .success(true) && results?.1 == true)
    }

    private static func isCancelled(after begun: Rendezvous) async -> Bool {
        await begun.arrive()
        // Ends only when it is cancelled.
        await Rendezvous(of: 2).arrive()
        return Task.isCancelled
    }
}
