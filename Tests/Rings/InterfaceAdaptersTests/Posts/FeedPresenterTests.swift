import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases
import UseCasesTesting

struct FeedPresenterTests {
    /// The detail of the cell has the complete text.
    @Test(arguments: [(60, false), (61, true)]) func onlyTheBeginningOfABodyIsShown(count: Int, isCut: Bool) throws {
        let body = String(repeating: "x", count: count)
        let entry = FeedEntry(post: try .example(1, by: 1, body: body), author: .unknown(User.ID(1)))
        let page = FeedPage(
            entries: [entry],
            total: 1,
            next: nil,
            postsRead: Reading(1, origin: .upstream),
            usersRead: .success(Reading(0, origin: .upstream))
        )
        let table = FeedPresenter().present(page).document.blocks.lazy.compactMap { block in
            if case .table(let table) = block { table } else { nil }
        }.first
        let cell = table?.rows.first?.last
        #expect(cell?.text.count == 60 && cell?.text.hasSuffix("…") == isCut)
        #expect(cell?.detail == body)
    }

    @Test func entriesShowWhatIsKnownAboutTheirAuthors() throws {
        let ada = try User.example(1, name: "Ada")
        let entries = try [
            FeedEntry(post: .example(3, by: 1, title: "T", body: "B"), author: .known(ada)),
            FeedEntry(post: .example(2, by: 7), author: .unknown(User.ID(7))),
            FeedEntry(post: .example(1, by: 8), author: .unavailable(User.ID(8))),
        ]
        let page = FeedPage(
            entries: entries,
            total: 9,
            next: FeedCursor(after: Post.ID(1)),
            postsRead: Reading(
                12,
                origin: .upstream,
                rejected: [.init(list: "posts", position: 4, field: nil, reason: "is null")]
            ),
            usersRead: .success(
                Reading(
                    1,
                    origin: .memory,
                    rejected: [.init(list: "users", position: 5, field: "id", reason: "is null")]
                )
            )
        )
        let viewModel = FeedPresenter().present(page)
        #expect(viewModel.rows.map(\.author) == ["Ada", "unknown user 7", "user 8"])
        #expect(viewModel.rows.first?.title == "T")
        #expect(viewModel.rows.first?.body == "B")
        #expect(viewModel.total == 9)
        #expect(viewModel.next == "1")
        #expect(viewModel.postsRead == 12)
        #expect(viewModel.origin == "upstream")
        #expect(viewModel.notes == ["Left out: posts[4] is null", "Left out: users[5].id is null"])
        let tables = viewModel.document.blocks.compactMap { if case .table(let table) = $0 { table } else { nil } }
        #expect(tables.map { $0.columns.map(\.isNumeric) } == [[true, false, false, false]])
        #expect(viewModel.document.blocks.first == .heading("Feed: 3 of 9 posts, the newest first"))
        #expect(viewModel.document.blocks.last == .notes(viewModel.notes))
    }

    @Test func pageWithoutAuthorsSaysWhy() {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let page = FeedPage(
            entries: [],
            total: 0,
            next: nil,
            postsRead: Reading(0, origin: .upstream),
            usersRead: .failure(failure)
        )
        #expect(FeedPresenter().present(page).notes == ["The authors could not be read: GET x failed"])
    }

    @Test func fallbackPageSaysWhy() {
        func failure(_ request: String) -> RepositoryError {
            RepositoryError(.unavailable, request: request, explanation: "failed")
        }
        let page = FeedPage(
            entries: [],
            total: 0,
            next: nil,
            postsRead: Reading(0, origin: .memory, fallbackReason: failure("GET x")),
            usersRead: .success(Reading(0, origin: .memory, fallbackReason: failure("GET y")))
        )
        let notes = ["Degraded, because GET x failed", "Degraded, because GET y failed"]
        #expect(FeedPresenter().present(page).notes == notes)
    }

    @Test func bodyIsExcerptedInTheCellAndCompleteInTheDetail() throws {
        let body = "One\n\ntwo\tthree " + String(repeating: "x", count: 100)
        let entry = FeedEntry(post: try .example(1, body: body), author: .unknown(User.ID(1)))
        let page = FeedPage(
            entries: [entry],
            total: 1,
            next: nil,
            postsRead: Reading(1, origin: .upstream),
            usersRead: .success(Reading(0, origin: .upstream))
        )
        let rows = FeedPresenter().present(page).document.rows
        let beginning = "One two three " + String(repeating: "x", count: 45) + "…"
        #expect(rows.compactMap(\.last) == [Table.Cell(beginning, detail: body)])
    }

    @Test func publishedPostIsShownWithItsIdentity() throws {
        let post = try Post.example(101, by: 7, title: "Notes", body: "On engines.")
        let published = PublishedPostPresenter().present(Reading(post, origin: .upstream))
        let (title, text) = (Document.Block.heading("Notes"), Document.Block.paragraph("On engines."))
        #expect(published.document.blocks == [title, text, .notes(["Published as post 101 of user 7."])])
        #expect(published.line == "Published as post 101 of user 7: Notes")
        let pending = PublishedPostPresenter().present(Reading(post, origin: .memory, isPending: true))
        let note = "Accepted for user 7, and published as soon as the upstream accepts it."
        #expect(pending.document.blocks == [title, text, .notes([note])])
        #expect(pending.id == nil && pending.pendingID == 101)
        #expect(pending.line == "Accepted as post 101 of user 7: Notes")
    }
}
