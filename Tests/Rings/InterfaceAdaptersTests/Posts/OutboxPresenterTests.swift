import InwardCore
import InwardFetching
import InwardRepositories
import Testing

@testable import InterfaceAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OutboxPresenterTests {
    private func item(
        _ id: String,
        _ state: OutboxItem.State = .waiting,
        path: String = "posts",
        body: String? = nil,
        acceptedAt: Date? = nil,
        nextAttempt: Date? = nil,
        cause: String? = nil
    ) -> OutboxItem {
        OutboxItem(
            id: id,
            state: state,
            write: body.map { OutboxWrite(endpoint: "posts", subject: ["a"], path: path, body: Array($0.utf8)) },
            acceptedAt: acceptedAt,
            attempts: 1,
            nextAttempt: nextAttempt,
            cause: cause,
            byteCount: 1
        )
    }

    @Test func listHasATableAndNotesIfThereIsSomethingToShow() async throws {
        let presenter = OutboxPresenter(now: Date(timeIntervalSince1970: 0))
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        let empty = presenter.present(contents, owner: nil).document
        #expect(empty.blocks == [.heading("Outbox"), .paragraph("0 pending, 0 refused.")])
        contents.pending = [item("a")]
        let blocks = presenter.present(contents, owner: nil).document.blocks
        #expect(blocks.count == 3 && blocks[1] == .paragraph("1 pending, 0 refused."))
        let table = try #require(blocks.compactMap { if case .table(let table) = $0 { table } else { nil } }.last)
        #expect(table.rows.map { $0.first?.text } == ["a"])
        contents.pending = [item("a", cause: "was lost")]
        #expect(presenter.present(contents, owner: nil).document.blocks.last == .notes(["a: was lost"]))
    }

    @Test(arguments: [
        (["abcdefgh", "bcdefghi"], ["abcdef", "bcdefg"]), (["abcdefgh", "abcdefxy"], ["abcdefg", "abcdefx"]),
        (["abc", "abcdefgh"], ["abc", "abcdef"]), (["ab", "cd"], ["ab", "cd"]),
    ])
    func identifiersAreShortenedButStayUnique(ids: [String], shown: [String]) async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.pending = ids.map { item($0) }
        let presenter = OutboxPresenter(now: Date(timeIntervalSince1970: 0))
        #expect(presenter.present(contents, owner: nil).rows.map(\.id) == shown)
    }

    @Test func writeIsFoundByTheBeginningOfItsID() async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.pending = [item("abcd"), item("abce"), item("ab")]
        contents.deadLetters = [item("xyz", .refused(at: .distantPast))]
        let presenter = OutboxPresenter(now: .distantPast)
        for (beginning, id) in [("abcd", "abcd"), ("ab", "ab"), ("x", "xyz")] {
            #expect(try presenter.item(beginning, in: contents).id == id)
        }
        let none = FailureViewModel(
            "There is no write whose ID begins with “q”",
            advice: "List them with --outbox."
        )
        #expect(throws: none) { try presenter.item("q", in: contents) }
        let several = FailureViewModel(
            "There are 2 writes whose IDs begin with “abc”",
            advice: "Type more of the ID."
        )
        #expect(throws: several) { try presenter.item("abc", in: contents) }
    }

    @Test(arguments: [
        (OutboxItem.State.waiting, "now"), (.outcomeUnknown, "now"), (.undeliverable(.damaged("it is")), "never"),
        (.refused(at: .distantPast), "never"),
    ])
    func undeliverableAndRefusedWritesAreNeverSent(state: OutboxItem.State, nextAttempt: String) async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.pending = [item("a", state)]
        let rows = OutboxPresenter(now: .distantPast).present(contents).rows
        #expect(rows.map(\.nextAttempt) == [nextAttempt])
    }

    @Test(arguments: [(60, "in 1 minute"), (1, "in 1 second"), (0, "now"), (-60, "now")])
    func dueWriteIsSentNow(seconds: Double, nextAttempt: String) async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        let now = Date(timeIntervalSince1970: 1_000)
        contents.pending = [item("a", nextAttempt: now.addingTimeInterval(seconds))]
        #expect(OutboxPresenter(now: now).present(contents).rows.map(\.nextAttempt) == [nextAttempt])
    }

    /// Another machine's clock may be ahead, or a stored date may be damaged.
    @Test(arguments: [(90, "1 minute ago"), (0, "0 seconds ago"), (-60, "0 seconds ago"), (1e300, "11574074 days ago")])
    func futureAcceptanceDateCountsAsNow(seconds: Double, accepted: String) async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        let now = Date(timeIntervalSince1970: 1_000)
        contents.pending = [item("a", acceptedAt: now.addingTimeInterval(-seconds))]
        #expect(OutboxPresenter(now: now).present(contents).rows.map(\.accepted) == [accepted])
    }

    @Test func statusNamesTheOldestPendingWrite() async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        #expect(contents.oldestAcceptedAt == nil)
        let dates = [20, 10, 30].map { Date(timeIntervalSince1970: $0) }
        contents.pending = [item("a")] + dates.map { item("\($0)", acceptedAt: $0) }
        #expect(contents.oldestAcceptedAt == dates[1])
        #expect(contents.status.oldestAcceptedAt == dates[1])
        #expect(contents.status.pendingBytes == 4)
        contents.pause = OutboxPause(until: .distantPast, refusals: 5, cause: "no")
        #expect(contents.status.pause == contents.pause)
    }

    @Test(
        arguments: [
            (nil, "Delivered ", true),
            (
                RepositoryError(.refused, request: "POST posts", explanation: "was answered with 422"),
                "The upstream refused ", false
            ),
            (
                RepositoryError(.notFound, request: "POST posts", explanation: "was answered with 404"),
                "The upstream refused ", false
            ),
            (RepositoryError(.unavailable, request: "POST posts", explanation: "reached nobody"), "The post ", false),
        ] as [(RepositoryError?, String, Bool)]
    )
    func outcomeOfARetryIsPresented(error: RepositoryError?, start: String, isDelivered: Bool) {
        let body = #"{"userId": 7, "title": "T", "body": "b"}"#
        let result = OutboxPresenter(now: .distantPast).presentRetried(item("a", body: body), error)
        #expect(result.line.hasPrefix(start) && result.line.contains("T"), "\(result.line)")
        if let error, start.contains("refused") { #expect(result.line.contains(" again: \(error)")) }
        #expect(result.isDelivered == isDelivered)
    }

    @Test(arguments: [(60, false), (61, true)]) func longTitleIsTruncated(count: Int, isCut: Bool) async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        let title = String(repeating: "x", count: count)
        contents.pending = [item("a", body: #"{"userId": 7, "title": "\#(title)", "body": "b"}"#)]
        let row = OutboxPresenter(now: .distantPast).present(contents).rows[0]
        #expect(row.title.count == 60 && row.title.hasSuffix("…") == isCut)
        let name = PostName(contents.pending[0].write).description
        #expect(name.contains("“\(row.title)”"))
    }

    @Test func attemptsAreANumericColumn() async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.pending = [item("a")]
        let blocks = OutboxPresenter(now: .distantPast).present(contents).document.blocks
        let table = try #require(blocks.compactMap { if case .table(let table) = $0 { table } else { nil } }.last)
        let column = try #require(table.columns.firstIndex { $0.title == "Attempts" })
        #expect(table.columns[column].isNumeric)
        #expect(table.rows.map { $0[column].text } == ["1"])
    }

    @Test func lastFiveRefusedPostsAreNamedAndTheOthersCounted() async throws {
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        let presenter = OutboxPresenter(now: .distantPast)
        for (count, rest) in [(5, ""), (6, "; and 1 more")] {
            contents.deadLetters = (1...count).map { number in
                let body = #"{"userId": 7, "title": "T\#(number)", "body": "b"}"#
                return item("\(number)", .refused(at: .distantPast), body: body)
            }
            let names = contents.deadLetters.suffix(5).map { PostName($0.write).description }.joined(separator: "; ")
            #expect(
                presenter.presentRefusals(contents) == """
                    \(count) refused posts are kept: \(names)\(rest). List them with --outbox, then --retry or --discard them.
                    """
            )
        }
        #expect(PostName(contents.deadLetters[0].write).description.contains("T1"))
    }

    @Test(arguments: [(DataRequest.Method.patch, "change"), (.delete, "deletion")])
    func changeOfAPostThatIsNotPublishedNamesThePost(method: DataRequest.Method, noun: String) async throws {
        let write = OutboxWrite(endpoint: "posts", subject: ["a"], method: method, path: "posts")
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.deadLetters = [
            item("a", .refused(at: .distantPast), body: #"{"userId": 7, "title": "T", "body": "b"}"#),
            OutboxItem(id: "b", state: .refused(at: .distantPast), write: write, attempts: 1, byteCount: 1),
        ]
        let presenter = OutboxPresenter(now: .distantPast)
        let rows = presenter.present(contents).rows
        #expect(rows.map(\.title) == ["T", "\(method) T"])
        #expect(rows.map(\.author) == ["user 7", "user 7"])
        #expect(presenter.presentRefusals(contents)?.contains("; the \(noun) of the post “T” of user 7. ") == true)
        contents.deadLetters.removeFirst()
        #expect(presenter.present(contents).rows.map(\.title) == ["\(method) posts"])
    }

    @Test func refusedWebsiteIsNamedAndCountedAsAWrite() async throws {
        let write = OutboxWrite(
            endpoint: "users",
            subject: ["users", "7"],
            method: .patch,
            path: "users/7",
            body: Array(#"{"website": "ada.test"}"#.utf8),
            entityID: "7"
        )
        var contents = try await OutboxContents(of: InMemoryRecordStore())
        contents.deadLetters = [
            OutboxItem(id: "a", state: .refused(at: .distantPast), write: write, attempts: 1, byteCount: 1),
            item("b", .refused(at: .distantPast), body: #"{"userId": 7, "title": "Moved", "body": "x"}"#),
        ]
        let presenter = OutboxPresenter(now: Date(timeIntervalSince1970: 0))
        let row = try #require(presenter.present(contents).rows.first)
        #expect(row.title == "website ada.test" && row.author == "user 7")
        #expect(
            presenter.presentRefusals(contents)?.hasPrefix(
                "2 refused writes are kept: the website “ada.test” of user 7; the post “Moved” of user 7. "
            ) == true
        )
        contents.deadLetters.removeFirst()
        #expect(presenter.presentRefusals(contents)?.hasPrefix("1 refused post is kept: ") == true)
    }
}
