import Entities
import InwardCore
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct ListUsersTests {
    @Test func usersAreSortedByNameIgnoringCase() async throws {
        let names = ["bob", "Ada", "ada", "Élise", "Carl"]
        let users = try names.enumerated().map { try User.example(9 - $0.offset, name: $0.element) }
        let listUsers = ListUsers(users: InMemoryUserRepository(users))
        let listed = try await listUsers().value.map { "\($0.name) \($0.id)" }
        #expect(listed == ["ada 7", "Ada 8", "bob 9", "Carl 5", "Élise 6"])
    }

    @Test func sharedOrderSortsEachList() async throws {
        let order = UserOrder()
        for names in [["Bo", "Al"], ["Cy", "Bo", "Al"], ["Cy", "Bo", "Al"], [], ["Bo", "Al"]] {
            let users = try names.enumerated().map { try User.example($0.offset + 1, name: $0.element) }
            let listed = try await ListUsers(users: InMemoryUserRepository(users), order: order)().value
            #expect(listed.map(\.name) == names.sorted())
        }
    }

    @Test func sharedOrderSortsAnUnchangedListOnce() async throws {
        let users = InMemoryUserRepository([try .example(1, name: "Bo"), try .example(2, name: "Al")])
        let order = UserOrder()
        let first = try await ListUsers(users: users, order: order)().value
        let second = try await ListUsers(users: users, order: order)().value
        func place(_ users: [User]) -> Int {
            unsafe users.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
        }
        #expect(place(first) == place(second), "The second list has storage of its own.")
    }

    @Test func readingKeepsItsOriginAndRejectedRecords() async throws {
        let rejected = [RejectedRecord(list: "users", position: 3, field: "id", reason: "is missing")]
        let listUsers = ListUsers(users: InMemoryUserRepository([try .example(1)], rejected: rejected))
        let reading = try await listUsers()
        #expect(reading.origin == .memory)
        #expect(reading.rejected == rejected)
    }

    @Test func policyIsPassedToTheRepository() async throws {
        let users = PolicyRecordingRepository()
        _ = try await ListUsers(users: users)(.upstreamOnly)
        _ = try await ListUsers(users: users)()
        #expect(users.policies == [.upstreamOnly, .cacheFirst])
    }

    @Test(arguments: RepositoryError.allReasons)
    func everyRepositoryErrorIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        let expected: ListUsersError =
            switch reason {
            case .cancelled: .cancelled
            case .denied: .denied(cause)
            case .unreadable: .unreadable(cause)
            default: .unavailable(cause)
            }
        let listUsers = ListUsers(users: InMemoryUserRepository(failure: cause))
        await #expect(throws: expected) { try await listUsers() }
    }
}
