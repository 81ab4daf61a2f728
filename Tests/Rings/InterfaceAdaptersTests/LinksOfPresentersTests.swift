import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases
import UseCasesTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct LinksOfPresentersTests {
    private let router = PathRouter()
    private let link = #""link":"/users/7""#

    private func page(next: Int? = nil) throws -> FeedPage {
        let entries: [FeedEntry] = try [
            .init(post: .example(3, by: 7), author: .known(.example(7))),
            .init(post: .example(2, by: 8), author: .unavailable(User.ID(8))),
            .init(post: .example(1, by: 9), author: .unknown(User.ID(9))),
        ]
        return FeedPage(
            entries: entries,
            total: 9,
            next: next.map { FeedCursor(after: Post.ID($0)) },
            postsRead: Reading(9, origin: .upstream),
            usersRead: .success(Reading(1, origin: .upstream))
        )
    }

    private func profile() throws -> UserProfile {
        UserProfile(
            user: Reading(try .example(7, name: "Ada"), origin: .upstream),
            posts: .success(Reading([], origin: .upstream))
        )
    }

    /// Returns the links of all table cells in a document.
    private func links(in document: Document) -> [Link] { document.rows.flatMap { $0.compactMap(\.link) } }

    private func json(_ viewModel: some ViewModel) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(viewModel), as: UTF8.self)
    }

    @Test func userLinksToTheirProfile() throws {
        let users = Reading([try User.example(7), try .example(8)], origin: .upstream)
        #expect(UserListPresenter(router: router).present(users).rows.map(\.link?.text) == ["/users/7", "/users/8"])
        #expect(UserListPresenter().present(users).rows.map(\.link) == [nil, nil])
    }

    @Test func postLinksToItsAuthorUnlessUnknown() throws {
        let links = try FeedPresenter(router: router).present(page()).rows.map(\.authorLink?.text)
        #expect(links == ["/users/7", "/users/8", nil])
        #expect(try FeedPresenter().present(page()).rows.map(\.authorLink) == [nil, nil, nil])
    }

    @Test func feedPageLinksToTheNextPageOfTheSameAuthor() throws {
        let presenter = FeedPresenter(router: router)
        #expect(try presenter.present(page(next: 61)).nextLink == Link("/posts/after/61"))
        #expect(try presenter.present(page(next: 61), by: User.ID(7)).nextLink == Link("/users/7/posts/after/61"))
        #expect(try presenter.present(page()).nextLink == nil)
        let unlinked = try FeedPresenter().present(page(next: 61))
        #expect(unlinked.nextLink == nil)
        #expect(unlinked.next == "61")
    }

    @Test func profileLinksToTheUsersPosts() throws {
        #expect(try UserProfilePresenter(router: router).present(profile()).postsLink == Link("/users/7/posts"))
        #expect(try UserProfilePresenter().present(profile()).postsLink == nil)
    }

    @Test func linksArePartOfTheDocument() throws {
        let feed = try FeedPresenter(router: router).present(page(next: 61)).document
        #expect(links(in: feed) == [Link("/users/7"), Link("/users/8")])
        #expect(feed.blocks.last == .link("Next page", Link("/posts/after/61")))
        let ofUser = try UserProfilePresenter(router: router).present(profile()).document
        #expect(ofUser.blocks.last == .link("Posts by Ada", Link("/users/7/posts")))
        let users = UserListPresenter(router: router).present(Reading([try .example(7)], origin: .upstream))
        #expect(links(in: users.document) == [Link("/users/7")])
        let unlinked = try FeedPresenter().present(page(next: 61)).document
        #expect(links(in: unlinked).isEmpty && unlinked.blocks.count == 2)
    }

    @Test func linksComeBeforeTheNotes() throws {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let page = FeedPage(
            entries: [],
            total: 0,
            next: FeedCursor(after: Post.ID(1)),
            postsRead: Reading(0, origin: .upstream),
            usersRead: .failure(failure)
        )
        let blocks = FeedPresenter(router: router).present(page).document.blocks
        #expect(blocks.dropFirst(2).first == .link("Next page", Link("/posts/after/1")))
        #expect(blocks.last == .notes(["The authors could not be read: GET x failed"]))
        #expect(blocks.count == 4)
    }

    @Test func linkIsEncodedAsAString() throws {
        let users = Reading([try User.example(7)], origin: .upstream)
        #expect(try json(UserListPresenter(router: router).present(users)).contains(link))
        let feed = try json(FeedPresenter(router: router).present(page(next: 61)))
        #expect(feed.contains(#""authorLink":"/users/7""#))
        #expect(feed.contains(#""nextLink":"/posts/after/61""#))
        let ofUser = try json(UserProfilePresenter(router: router).present(profile()))
        #expect(ofUser.contains(#""postsLink":"/users/7/posts""#))
    }

    @Test func missingLinkIsNotEncoded() throws {
        let users = Reading([try User.example(7)], origin: .upstream)
        for text in try [
            json(UserListPresenter().present(users)), json(FeedPresenter().present(page(next: 61))),
            json(UserProfilePresenter().present(profile())),
        ] {
            #expect(!text.lowercased().contains("link"))
        }
    }
}
