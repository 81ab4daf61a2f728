import Testing
import UseCases

@testable import InterfaceAdapters

struct OutboxStateTests {
    @Test func noMoreThanTheLastThousandRefusalsAreRemembered() {
        var state = OutboxState(.standard)
        #expect(state.deadLetterCount == 0 && state.deadLetterBytes == 0)
        let entries = (0...1_000).map { number in
            OutboxEntry(
                sequence: number,
                write: OutboxStage.write(["7"]),
                idempotencyKey: "k\(number)",
                acceptedAt: OutboxStage.time,
                attempts: 0
            )
        }
        let refusal = RepositoryError(.refused, request: "PUT 7", explanation: "was refused")
        for entry in entries { state.remember(refusal, of: entry) }
        #expect(entries.map { state.refusal(of: $0) == nil } == [true] + Array(repeating: false, count: 1_000))
    }

    @Test func whoWaitsForAnEndIsToldOnce() {
        var state = OutboxState(.standard)
        state.endWaiters["k"] = [Promise()]
        let told = [state.end(.closed), state.end(.closed)].map(\.waiters.count)
        #expect(told == [1, 0])
    }

    @Test func whatIsPutOffIsForgottenBeforeAnybodyElseSendsIt() throws {
        var state = OutboxState(OutboxPolicy(concurrency: 1))
        let entry = OutboxEntry(
            sequence: 1,
            write: OutboxStage.write(["7"]),
            idempotencyKey: "k",
            acceptedAt: OutboxStage.time,
            attempts: 0
        )
        state.lanes.append(entry, DeliveryHistory())
        let first = state.lanes.next(at: .zero)
        let delivery = try #require(first)
        state.deliveries["k"] = Task {}
        state.answered.insert("k")
        state.postpone(delivery, until: .seconds(1))
        // Whoever sends it next is found by a close, and cancelled: nobody has answered for it.
        #expect(state.deliveries.isEmpty && state.answered.isEmpty)
        let second = state.lanes.next(at: .seconds(1))
        #expect(second?.entry == entry)
        state.deliveries["k"] = Task {}
        #expect(state.end(.closed).tasks.count == 1)
    }
}
