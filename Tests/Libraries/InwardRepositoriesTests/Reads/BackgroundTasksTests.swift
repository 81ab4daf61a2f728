import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct BackgroundTasksTests {
    private let scheduler = DeterministicScheduler(seed: 7)

    @Test func onlyOneTaskPerKeyRunsAtATime() async throws {
        let tasks = BackgroundTasks<String>(executor: scheduler.executor)
        let log = WorkLog()
        try await scheduler.run { [scheduler] in
            for key in ["a", "a", "b"] {
                tasks.begin(key) {
                    log.note(key)
                    try? await scheduler.clock.sleep(for: .seconds(1))
                }
            }
            #expect(tasks.count == 2)
            try await scheduler.clock.sleep(for: .seconds(2))
            #expect(tasks.count == 0)
            tasks.begin("a") { log.note("again") }
        }
        try await scheduler.drain()
        #expect(log.all.sorted() == ["a", "again", "b"])
    }

    @Test func closingWaitsForTasksAndRejectsNewOnes() async throws {
        let tasks = BackgroundTasks<String>(executor: scheduler.executor)
        let log = WorkLog()
        try await scheduler.run { [scheduler] in
            tasks.begin("a") {
                do { try await scheduler.clock.sleep(for: .seconds(60)) } catch { log.note("cancelled") }
                await Task(executorPreference: scheduler.executor) {
                    try? await scheduler.clock.sleep(for: .seconds(1))
                }.value
                log.note("ended")
            }
            try await scheduler.clock.sleep(for: .seconds(1))
            await tasks.close()
            #expect(log.all == ["cancelled", "ended"])
            tasks.begin("b") { log.note("begun") }
            #expect(tasks.count == 0)
        }
        try await scheduler.drain()
        #expect(log.all == ["cancelled", "ended"])
    }
}
