import Entities
import InwardCore
import Testing
import UseCasesTesting

struct InMemoryUnitOfWorkTests {
    /// A change that no in-memory repository prepared.
    private struct ForeignChange: PreparedChange {
        let description = "a change by someone else"
    }

    private let unitOfWork = InMemoryUnitOfWork()
    private let posts: InMemoryPostRepository
    private let users: InMemoryUserRepository

    init() throws {
        posts = InMemoryPostRepository([try .example(7)])
        users = InMemoryUserRepository([try .example(1), try .example(2)])
    }

    private func publication(_ title: String = "Notes") async throws -> any PreparedChange {
        try await posts.prepareToPublish(PostDraft(authorID: User.ID(1), title: title, body: "x"))
    }

    private func announcement(of website: String) async throws -> any PreparedChange {
        try #require(try await users.prepareUpdate(of: User.ID(1)) { $0.website = website })
    }

    private func titles() async throws -> [String] { try await posts.posts(.cacheFirst).value.map(\.title) }

    @Test func nothingChangesBeforeTheCommit() async throws {
        let change = try await publication()
        #expect(try await titles() == ["Title 7"])
        try await unitOfWork.commit([change])
        #expect(try await titles() == ["Title 7", "Notes"])
        #expect(unitOfWork.commits == [["the publication of “Notes”"]])
    }

    @Test func changesAreMadeInOrder() async throws {
        let changes = [
            try await publication("First"), try await announcement(of: "https://ada.example"),
            try await publication("Second"),
        ]
        try await unitOfWork.commit(changes)
        try await unitOfWork.commit([])
        #expect(try await posts.posts(.cacheFirst).value.map(\.id.rawValue) == [7, 8, 9])
        #expect(try await titles() == ["Title 7", "First", "Second"])
        #expect(try await users.users(.cacheFirst).value.map(\.website) == ["https://ada.example", ""])
        #expect(unitOfWork.commits.map(\.count) == [3, 0])
    }

    @Test func prescribedFailureChangesNothingAndIsThrownOnce() async throws {
        let (full, busy) = (
            UnitOfWorkError(.full, explanation: "There is no room."),
            UnitOfWorkError(.unavailable, explanation: "It is busy.")
        )
        unitOfWork.failNextCommit(with: full)
        unitOfWork.failNextCommit(with: busy)
        let change = try await publication()
        for failure in [full, busy] {
            let error = await #expect(throws: UnitOfWorkError.self) { try await unitOfWork.commit([change]) }
            #expect(error?.explanation == failure.explanation)
        }
        #expect(try await titles() == ["Title 7"] && unitOfWork.commits.isEmpty)
        try await unitOfWork.commit([change])
        #expect(try await titles() == ["Title 7", "Notes"])
    }

    @Test func commitWithAForeignChangeIsRefused() async throws {
        let change = try await publication()
        let error = await #expect(throws: UnitOfWorkError.self) {
            try await unitOfWork.commit([change, ForeignChange()])
        }
        #expect(error?.reason == .foreign)
        #expect(try await titles() == ["Title 7"] && unitOfWork.commits.isEmpty)
    }
}
