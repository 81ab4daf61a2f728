import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Deletions that depend on the current version.
@Suite(.timeLimit(.minutes(5)))
struct ConditionalDeletionTests {
    private let stage = OutboxStage()
    private let source = VersionedSource()
    private let store = InMemoryRecordStore(now: { OutboxStage.time })

    private func theirs(_ error: WriteError<Remark>?) -> String? {
        if case .conflict(let conflict)? = error { conflict.theirs?.text } else { nil }
    }

    /// Runs a process with a repository over an outbox, while the upstream is not reachable.
    private func run(_ body: @escaping @Sendable (Repository<Remark>, Outbox) async throws -> Void) async throws {
        let outbox = try stage.outbox(source, store: store, keySeed: 1)
        let repository = try Repository.versioned(source, Editing(.patch), outbox: outbox, timer: stage.timer)
        try await stage.scheduler.run {
            try await outbox.open(handlers: [repository.handler])
            _ = try await repository.entity(2)
            source.goOffline()
            try await body(repository, outbox)
            await repository.close()
            await outbox.close()
        }
    }

    @Test func expectedVersionIsDeleted() async throws {
        let repository = try Repository.versioned(source, Editing(.put))
        try await repository.delete(2) { $0.text == "2" }
        #expect(source.writes == [#"DELETE 2 "v1""#] && source.remark(2) == nil)
    }

    @Test func anotherVersionIsNotDeleted() async throws {
        let repository = try Repository.versioned(source, Editing(.put))
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) { $0.text == "1" } }
        #expect(theirs(error) == "2" && source.writes.isEmpty)
    }

    @Test func missingEntityIsNotFound() async throws {
        let repository = try Repository.versioned(source, Editing(.put))
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(9) { _ in true } }
        #expect(error?.repositoryError.reason == .notFound)
    }

    @Test func ruleDoesNotDeleteAVersionThatTheConditionDoesNotAllow() async throws {
        let repository = try Repository.versioned(source, Editing(.put, onConflict: .mine))
        _ = try await repository.entity(2)
        source.put(Remark(id: 2, author: 7, text: "theirs"))
        let error = await #expect(throws: WriteError<Remark>.self) { try await repository.delete(2) { $0.text == "2" } }
        #expect(theirs(error) == "theirs" && source.remark(2)?.text == "theirs")
    }

    @Test func pendingUpdateCountsAsTheCurrentVersion() async throws {
        try await run { [self] repository, outbox in
            try await repository.update(2) { $0.text = "new" }
            let error = await #expect(throws: WriteError<Remark>.self) {
                try await repository.delete(2) { $0.text == "2" }
            }
            #expect(theirs(error) == "new" && outbox.pending.count == 1)
            try await repository.delete(2) { $0.text == "new" }
            #expect(outbox.pending.count == 2)
        }
    }

    @Test func onlyOneOfTwoDeletionsIsAccepted() async throws {
        try await run { repository, outbox in
            try await repository.delete(2) { $0.text == "2" }
            let error = await #expect(throws: WriteError<Remark>.self) {
                try await repository.delete(2) { $0.text == "2" }
            }
            #expect(error?.repositoryError.reason == .notFound && outbox.pending.count == 1)
        }
    }

    @Test func onlyOneOfSeveralConcurrentWritesIsAccepted() async throws {
        try await run { repository, outbox in
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        do {
                            if number.isMultiple(of: 2) {
                                try await repository.delete(2) { $0.text == "2" }
                                return true
                            }
                            let reading = try await repository.update(2) { remark in
                                if remark.text == "2" { remark.text = "new \(number)" }
                            }
                            return reading.value.text == "new \(number)"
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(accepted == 1 && outbox.pending.count == 1)
        }
    }
}
