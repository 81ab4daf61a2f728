import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct SharedOutboxTests {
    private let stage = SharedOutboxStage()
    private let partition = SharedOutboxStage.partition

    @Test func writeIsDeliveredByAnotherInstanceThanTheOneThatAcceptedIt() async throws {
        let upstream = stage.upstream()
        let (accepting, delivering) = (try stage.outbox(upstream), try stage.outbox(upstream))
        try await stage.delivering(by: [delivering]) { [stage, partition] in
            let entries = try await accepting.accept(
                [SharedOutboxStage.write(["7"], "{}")],
                in: partition,
                with: [.keep(StoredRecord([1]), ["draft"])]
            )
            #expect(try await stage.store.record(for: ["draft"]) == StoredRecord([1]))
            #expect(entries.map(\.sequence) == [1])
            try await stage.untilDelivered(accepting)
        }
        #expect(upstream.done.map(\.text) == ["{}"])
        #expect(accepting.counts == OutboxCounts(accepted: 1))
        #expect(delivering.counts == OutboxCounts(attempts: 1, delivered: 1))
        // Nothing of the outbox is left.
        #expect(try await stage.store.records(under: ["outbox"]).isEmpty)
        #expect(try await stage.store.record(for: ["values", "7"]) == StoredRecord(Array("{}".utf8)))
        #expect(stage.errors.errors.isEmpty)
    }

    @Test func writesOfASubjectAreDeliveredInTheOrderOfAcceptance() async throws {
        let upstream = stage.upstream(latency: .milliseconds(100))
        let outboxes = try (1...3).map { try stage.outbox(upstream, keySeed: $0) }
        try await stage.delivering(by: outboxes) { [stage, partition] in
            for number in 1...12 {
                try await outboxes[number % 3].accept(
                    [SharedOutboxStage.write(["\(number % 2)"], "\(number)")],
                    in: partition
                )
            }
            try await stage.untilDelivered(outboxes[0])
        }
        let bodies = upstream.requests.map(\.text)
        #expect(bodies.filter { Int($0)?.isMultiple(of: 2) == true } == ["2", "4", "6", "8", "10", "12"])
        #expect(bodies.filter { Int($0)?.isMultiple(of: 2) == false } == ["1", "3", "5", "7", "9", "11"])
    }
}
