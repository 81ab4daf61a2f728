import Entities
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct UpstreamUserRepositoryTests {
    private func users(_ json: String) async throws -> Reading<[User]> {
        try await UpstreamUserRepository(upstream: .example(answering: json)).users(.cacheFirst)
    }

    @Test func recordIsDecodedAsAUser() async throws {
        let reading = try await users(UserJSON.list(UserJSON.record()))
        let user = try #require(reading.value.first)
        #expect(user.id == User.ID(1))
        #expect(user.name == "Ada Lovelace")
        #expect(user.username == "ada")
        #expect(user.email.description == "Ada@example.org")
        #expect(user.phone == "555-0100")
        #expect(user.website == "example.org")
        #expect(user.address.street == "St James's Square")
        #expect(user.address.suite == "12")
        #expect(user.address.city == "London")
        #expect(user.address.zipcode == "SW1Y")
        #expect(user.address.location.latitude == 51.5072)
        #expect(user.address.location.longitude == -0.1345)
        #expect(user.company.name == "Analytical Engines")
        #expect(user.company.catchPhrase == "It weaves")
        #expect(user.company.business == "numbers")
        #expect(reading.origin == .upstream)
        #expect(reading.rejected.isEmpty)
    }

    @Test(arguments: [
        ("\"id\": 1,", "", "users[1].id is missing"),
        ("\"id\": 1,", "\"id\": null,", "users[1].id is null"),
        ("\"id\": 1,", "\"id\": \"seven\",", "users[1].id is not a whole number"),
        ("\"id\": 1,", "\"id\": 1.5,", "users[1].id is not a whole number"),
        ("\"id\": 1,", "\"id\": 99999999999999999999,", "users[1].id is not a whole number"),
        ("\"id\": 1,", "\"id\": true,", "users[1].id is not a whole number"),
        ("\"Ada Lovelace\"", "7", "users[1].name is not a string"),
        ("\"Ada Lovelace\"", "\" \"", "users[1].name breaks a rule: A user's name must not be blank."),
        ("\"ada\"", "\"a b\"", "users[1].username breaks a rule: A username must be one word, but “a b” is not."),
        (
            "Ada@Example.org", "nobody",
            "users[1].email breaks a rule: An email address must contain exactly one “@”, but “nobody” does not."
        ),
        (
            "\"51.5072\"", "\"91\"",
            "users[1].address.geo.lat breaks a rule: A latitude must be from -90 to 90 degrees, but this one is 91.0."
        ),
        (
            "\"-0.1345\"", "\"181\"",
            "users[1].address.geo.lng breaks a rule: A longitude must be from -180 to 180 degrees, but this one is 181.0."
        ),
        ("\"51.5072\"", "\"north\"", "users[1].address.geo.lat is not a number: “north”"),
        ("\"51.5072\"", "\"nan\"", "users[1].address.geo.lat is not a number: “nan”"),
        ("\"51.5072\"", "\"0x1p3\"", "users[1].address.geo.lat is not a number: “0x1p3”"),
        ("\"51.5072\"", "51.5072", "users[1].address.geo.lat is not a string"),
        ("{\"lat\": \"51.5072\", \"lng\": \"-0.1345\"}", "[]", "users[1].address.geo is not an object"),
        ("\"Analytical Engines\"", "\"\"", "users[1].company.name breaks a rule: A company's name must not be blank."),
    ])
    func damagedRecordIsRejectedAndNamed(text: String, replacement: String, note: String) async throws {
        let damaged = UserJSON.record(replacing: text, by: replacement)
        let reading = try await users(UserJSON.list(UserJSON.record(id: "2"), damaged, UserJSON.record(id: "3")))
        #expect(reading.value.map(\.id.rawValue) == [2, 3])
        #expect(reading.rejected.map(\.description) == [note])
    }

    @Test func rejectionReasonIsShortForAHugeField() async throws {
        let endless = "x" + String(repeating: "\u{301}", count: 50_000) + String(repeating: "y", count: 50_000)
        let reading = try await users(UserJSON.list(UserJSON.record(replacing: "Ada@Example.org", by: endless)))
        let reason = try #require(reading.rejected.first?.reason)
        #expect(reason.utf8.count < 8_000)
    }

    @Test func userIsRequestedByIdentity() async throws {
        let json = Data(UserJSON.record(id: "7").utf8)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: json)))
        let repository = UpstreamUserRepository(upstream: try .example(source))
        #expect(try await repository.user(User.ID(7), .cacheFirst).value.id == User.ID(7))
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/users/7"])
        #expect(source.requests.first?.headerFields == [HeaderField(.accept, "application/json")])
    }

    @Test func damagedUserIsAnErrorThatNamesTheField() async throws {
        let json = UserJSON.record(replacing: "\"phone\": \"555-0100\",", by: "")
        let repository = UpstreamUserRepository(upstream: try .example(answering: json))
        let error = await #expect(throws: RepositoryError.self) { try await repository.user(User.ID(1), .cacheFirst) }
        #expect(error?.reason == .unreadable)
        #expect(error?.explanation.hasSuffix("its field “phone” is missing") == true)
    }

    @Test func upstreamOnlySendsNoCache() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data("[]".utf8))))
        let repository = UpstreamUserRepository(upstream: try .example(source))
        _ = try await repository.users(.upstreamOnly)
        _ = try? await repository.user(User.ID(1), .cacheFirst)
        _ = try? await repository.user(User.ID(1), .upstreamOnly)
        #expect(source.requests.map { $0.headerFields[.cacheControl] } == ["no-cache", nil, "no-cache"])
    }

    @Test(.timeLimit(.minutes(5))) func websiteAndPostAreCommittedTogetherToTheOutbox() async throws {
        let upstream = try Upstream.example(
            StubDataFetcher { request throws(FetchError) in
                guard request.method == .get else {
                    throw FetchError(.unreachable, request: request, explanation: "reached nobody")
                }
                return DataResponse(body: Data(UserJSON.record(id: "7").utf8))
            }
        )
        let timer = TimerService(ManualClock())
        let store = InMemoryRecordStore(now: { Date(timeIntervalSinceReferenceDate: 800_000_000) })
        let outbox = Outbox(upstream: upstream, store: store, timer: timer, errorHandler: RecordingErrorHandler())
        let users = Repository(.users(), upstream: upstream, outbox: outbox, timer: timer)
        let posts = Repository(.posts(), upstream: upstream, outbox: outbox, timer: timer)
        try await outbox.open(handlers: [users.handler, posts.handler])
        let (userRepository, postRepository) = (UpstreamUserRepository(users), UpstreamPostRepository(posts))
        let draft = try PostDraft(authorID: User.ID(7), title: "Moved", body: "See there.")
        let profile = try #require(try await userRepository.prepareUpdate(of: User.ID(7)) { $0.website = "ada.test" })
        let post = try await postRepository.prepareToPublish(draft)
        #expect(profile.description == "the profile of user 7" && post.description == "the publication of “Moved”")
        #expect(outbox.pending.isEmpty)
        try await RecordUnitOfWork(outbox: outbox).commit([profile, post])
        #expect(outbox.pending.map { "\($0.write.method) \($0.write.path)" } == ["PATCH users/7", "POST posts"])
        #expect(outbox.pending.first?.write.body == Array(#"{"website":"ada.test"}"#.utf8))
        let reading = try await userRepository.user(User.ID(7), .cacheFirst)
        #expect(reading.value.website == "ada.test" && reading.isPending)
        // An update that changes nothing is `nil`.
        let same = try await userRepository.prepareUpdate(of: User.ID(7)) { $0.website = "ada.test" }
        #expect(same == nil)
        await outbox.close()
    }

    @Test func nothingIsPreparedWithoutAnOutbox() async throws {
        let upstream = try Upstream.example(answering: UserJSON.record(id: "7"))
        let change = try await UpstreamUserRepository(upstream: upstream).prepareUpdate(of: User.ID(7)) {
            $0.website = "x"
        }
        #expect(change == nil)
        let draft = try PostDraft(authorID: User.ID(7), title: "Moved", body: "See there.")
        let error = await #expect(throws: RepositoryError.self) {
            try await UpstreamPostRepository(upstream: upstream).prepareToPublish(draft)
        }
        #expect(error?.reason == .refused)
    }
}
