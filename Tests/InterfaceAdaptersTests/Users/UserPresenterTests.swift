import Entities
import InterfaceAdapters
import InwardTesting
import Testing
import UseCases

struct UserPresenterTests {
    @Test func aListShowsEachUserAndWhatWasLeftOut() throws {
        let rejected = [RejectedRecord(list: "users", position: 3, field: "id", reason: "is missing")]
        let reading = Reading([try User.example(7, name: "Ada")], origin: .upstream, rejected: rejected)
        let viewModel = UserListPresenter().present(reading)
        #expect(viewModel.origin == "upstream")
        #expect(viewModel.notes == ["Left out: users[3].id is missing"])
        let text = TextRenderer().render(viewModel.document)
        #expect(text.contains(" 7  Ada   user7     user7@example.org"))
        #expect(text.hasSuffix("\n- Left out: users[3].id is missing\n"))
    }

    @Test func aListWithNothingLeftOutHasNoRemarks() throws {
        let viewModel = UserListPresenter().present(Reading([try User.example()], origin: .memory))
        #expect(viewModel.document.blocks.count == 2)
    }

    @Test func aProfileShowsTheUserAndThePosts() throws {
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
        let text = TextRenderer().render(UserProfilePresenter().present(profile).document)
        #expect(text.hasPrefix("Ada\n===\n"))
        #expect(text.contains("Email         user7@example.org\n"))
        #expect(text.contains("   3  Notes  Body\n"))
    }

    @Test func aProfileWithoutPostsSaysWhy() throws {
        let failure = RepositoryError(.unavailable, request: "GET x", explanation: "failed")
        let profile = UserProfile(user: Reading(try .example(), origin: .upstream), posts: .failure(failure))
        #expect(UserProfilePresenter().present(profile).notes == ["The posts could not be had: GET x failed"])
    }
}
