import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases
import UseCasesTesting

struct UserPresenterTests {
    @Test func listShowsUsersAndRejectedRecords() throws {
        let rejected = [RejectedRecord(list: "users", position: 3, field: "id", reason: "is missing")]
        let reading = Reading([try User.example(7, name: "Ada")], origin: .upstream, rejected: rejected)
        let viewModel = UserListPresenter().present(reading)
        #expect(viewModel.origin == "upstream")
        #expect(viewModel.notes == ["Left out: users[3].id is missing"])
        let texts = viewModel.document.rows.map { $0.map(\.text) }
        #expect(texts.map { $0.prefix(4) } == [["7", "Ada", "user7", "user7@example.org"]])
        #expect(viewModel.document.blocks.last == .notes(["Left out: users[3].id is missing"]))
    }

    @Test func listWithoutRejectedRecordsHasNoNotes() throws {
        let viewModel = UserListPresenter().present(Reading([try User.example()], origin: .memory))
        #expect(viewModel.document.blocks.count == 2)
    }

    @Test func pendingListSaysThatItIncludesUnacceptedChanges() throws {
        let reading = Reading([try User.example()], origin: .memory, isPending: true)
        let notes = ["This includes changes that the upstream has not accepted yet"]
        #expect(UserListPresenter().present(reading).notes == notes)
    }

    @Test func profileShowsTheUserAndThePosts() throws {
        let profile = UserProfile(
            user: Reading(try .example(7, name: "Ada"), origin: .upstream),
            posts: .success(
                Reading(
                    [try .example(3, by: 7, title: "Notes")],
                    origin: .upstream,
                    rejected: [RejectedRecord(list: "posts", position: 3, field: nil, reason: "is null")]
                )
            )
        )
        #expect(UserProfilePresenter().present(profile).notes == ["Left out: posts[3] is null"])
        let document = UserProfilePresenter().present(profile).document
        #expect(document.blocks.first == .heading("Ada"))
        let texts = document.rows.map { $0.map(\.text) }
        #expect(texts.contains(["Email", "user7@example.org"]))
        #expect(texts.last == ["3", "Notes", "Body"])
    }

    @Test(arguments: [
        ("", "London", "12 St James's Square, SW1Y 4JH London"),
        ("Floor 2", "London", "12 St James's Square, Floor 2, SW1Y 4JH London"),
        ("Floor 2", "", "12 St James's Square, Floor 2, SW1Y 4JH"),
    ])
    func addressOmitsEmptyParts(suite: String, city: String, line: String) throws {
        let example = try User.example()
        let user = try User(
            id: example.id,
            name: example.name,
            username: example.username,
            email: example.email,
            phone: example.phone,
            website: example.website,
            address: PostalAddress(
                street: "12 St James's Square",
                suite: suite,
                city: city,
                zipcode: "SW1Y 4JH",
                location: example.address.location
            ),
            company: example.company
        )
        let profile = UserProfile(
            user: Reading(user, origin: .upstream),
            posts: .success(Reading([], origin: .upstream))
        )
        let fields = UserProfilePresenter().present(profile).fields
        #expect(fields.first { $0.label == "Address" }?.text == line)
    }

    @Test func fallbackReadingSaysWhy() throws {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let rejected = [RejectedRecord(list: "users", position: 3, field: nil, reason: "is null")]
        let list = Reading([try User.example()], origin: .memory, rejected: rejected, fallbackReason: failure)
        let notes = ["Degraded, because GET x failed", "Left out: users[3] is null"]
        #expect(UserListPresenter().present(list).notes == notes)
        let whole = Reading(try User.example(), origin: .upstream)
        let degraded = Reading(try User.example(), origin: .memory, fallbackReason: failure)
        let posts = Reading<[Post]>([], origin: .memory, fallbackReason: failure)
        for (profile, count) in [
            (UserProfile(user: whole, posts: .success(posts)), 1),
            (UserProfile(user: degraded, posts: .success(Reading([], origin: .upstream))), 1),
            (UserProfile(user: degraded, posts: .success(posts)), 2),
        ] {
            let notes = [String](repeating: "Degraded, because GET x failed", count: count)
            #expect(UserProfilePresenter().present(profile).notes == notes)
        }
    }

    @Test func profileWithoutPostsSaysWhy() throws {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let profile = UserProfile(user: Reading(try .example(), origin: .upstream), posts: .failure(failure))
        #expect(UserProfilePresenter().present(profile).notes == ["The posts could not be read: GET x failed"])
    }
}
