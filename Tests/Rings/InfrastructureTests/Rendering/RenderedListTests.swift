import Foundation
import Infrastructure
import InterfaceAdapters
import InwardRepositories
import Testing

struct RenderedListTests {
    private static let hostile = "one\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"
    private static let visible = #"one\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"#

    private func item(_ id: String, _ state: OutboxItem.State, path: String, body: String) -> OutboxItem {
        OutboxItem(
            id: id,
            state: state,
            write: OutboxWrite(endpoint: "posts", subject: ["a"], path: path, body: Array(body.utf8)),
            acceptedAt: nil,
            attempts: 1,
            nextAttempt: nil,
            cause: Self.hostile,
            byteCount: 1
        )
    }

    /// Every text in the list comes from outside: the post, the path, the causes and the name of the other process.
    @Test func outboxListShowsEveryHiddenCharacter() async throws {
        let hostile = Self.hostile
        let draft = #"{"userId": 7, "title": "\u001B[2J\u200B", "body": "a"}"#
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.pending = [item("aaaaaa", .waiting, path: "posts", body: draft)]
        contents.deadLetters = [item(hostile, .refused(at: .distantPast), path: hostile, body: "")]
        contents.pause = OutboxPause(until: .distantPast, refusals: 5, cause: hostile)
        let presenter = OutboxPresenter(now: Date(timeIntervalSince1970: 0))
        let list = TextRenderer(maximumColumnWidth: 200).render(presenter.present(contents, owner: hostile).document)
        // In two causes, the cause of the pause, and the owner. The excerpt of the path in the table has a space instead of \n.
        #expect(list.components(separatedBy: Self.visible).count == 1 + 4, "\(list)")
        #expect(list.contains(Self.visible.replacing(#"\n"#, with: " ")), "\(list)")
        #expect(list.contains(#"\u{1B}[2J\u{200B}"#))
        let printable: (Unicode.Scalar) -> Bool = { $0 == "\n" || $0 == "…" || (0x20..<0x7F).contains($0.value) }
        #expect(list.unicodeScalars.allSatisfy(printable), "\(list)")
    }
}
