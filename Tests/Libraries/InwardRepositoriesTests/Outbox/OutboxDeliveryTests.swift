import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OutboxDeliveryTests {
    private let entry = OutboxEntry(
        sequence: 1,
        write: OutboxStage.write(["7"]),
        idempotencyKey: "k",
        acceptedAt: OutboxStage.time,
        attempts: 3
    )

    private func delivery(_ note: AttemptNote) -> OutboxDelivery {
        OutboxDelivery(entry, note, at: .seconds(100), OutboxStage.time, OutboxPolicy())
    }

    @Test func deliveryContinuesFromTheNoteOfAnEarlierProcess() {
        let date = OutboxStage.time.addingTimeInterval(5)
        let note = AttemptNote(attempts: 3, mayHaveArrived: true, nextAttempt: date, cause: "down", isDenied: true)
        let known = delivery(note)
        #expect(known.entry == entry)
        #expect(known.mayHaveArrived && known.isNoted && known.isDenied)
        #expect(known.cause == "down")
        #expect(known.nextAttempt == .seconds(105))
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func entryThatWasAboutToBeSentMayHaveArrived(mayHaveArrived: Bool, isSending: Bool) {
        let known = delivery(AttemptNote(attempts: 0, mayHaveArrived: mayHaveArrived, isSending: isSending))
        #expect(known.mayHaveArrived == (mayHaveArrived || isSending))
        #expect(known.isNoted == (mayHaveArrived || isSending))
        #expect(known.nextAttempt == nil && known.cause == nil && !known.isDenied)
    }
}
