import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AttemptNoteTests {
    /// Later versions of the program must be able to read stored notes.
    @Test func storedNoteIsDecodedUnchanged() {
        let text = """
            {"version":1,"attempts":3,"mayHaveArrived":false,"isSending":false,"nextAttempt":1500,"cause":"down","denied":true}
            """
        let note = AttemptNote(Array(text.utf8))
        #expect(note.attempts == 3)
        #expect(!note.mayHaveArrived && !note.isSending && note.isDenied)
        #expect(note.nextAttemptDate == Date(timeIntervalSince1970: 1.5))
        #expect(note.cause == "down")
        #expect(AttemptNote(note.bytes) == note)
    }

    @Test func plainNumberIsANoteOfTheFirstVersion() {
        let note = AttemptNote(Array("7".utf8))
        #expect(note.attempts == 7)
        #expect(note.mayHaveArrived && !note.isSending && !note.isDenied)
    }

    @Test(arguments: ["", "{", "nonsense", #"{"version":2,"attempts":3,"mayHaveArrived":false,"isSending":false}"#])
    func unreadableNoteCountsAsPossiblyArrived(text: String) {
        let note = AttemptNote(Array(text.utf8))
        #expect(note.attempts == 0)
        #expect(note.mayHaveArrived)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1_000_000, 1_000_000), (1_000_001, 1_000_000)])
    func numberOfAttemptsIsClampedToACountableRange(stored: Int, attempts: Int) {
        let text = #"{"version":1,"attempts":\#(stored),"mayHaveArrived":false,"isSending":false}"#
        #expect(AttemptNote(Array(text.utf8)).attempts == attempts)
    }

    @Test func longCauseIsTruncated() {
        let cause = AttemptNote(attempts: 1, mayHaveArrived: false, cause: String(repeating: "x", count: 501)).cause
        #expect(cause?.count == 500)
        #expect(cause?.hasSuffix("…") == true)
    }
}
