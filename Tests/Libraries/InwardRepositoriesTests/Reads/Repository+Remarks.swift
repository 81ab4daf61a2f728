import InwardCore
import InwardFetching
import TestSupport

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Creation<Remark> {
    /// The creation of remarks.
    static var remarks: Creation<Remark> {
        Creation(RemarkDTO.self, answer: RemarkDTO.self) { remark, _ in
            Remark(id: remark.id, author: remark.author, text: remark.text)
        } created: { _, answer in
            Remark(id: answer.id, author: answer.author, text: answer.text)
        }
    }
}

extension Repository<Remark> {
    /// Returns a repository of remarks, by default without jitter.
    static func remarks(
        _ source: any DataFetcher,
        _ timer: TimerService,
        lifetimes: Lifetimes = Lifetimes(),
        memory: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        outbox: (any RepositoryOutbox)? = nil,
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        observer: (any RepositoryObserver)? = nil,
        chance: @escaping @Sendable () -> Double = { 0 }
    ) throws -> Repository<Remark> {
        Repository(
            Endpoint(
                RemarkDTO.self,
                at: "remarks",
                subjects: { [["users", String($0.author)]] },
                lifetimes: lifetimes,
                creation: .remarks
            ),
            upstream: try .example(source),
            memory: memory,
            store: store,
            outbox: outbox,
            whenAbandoned: abandonment,
            timer: timer,
            observer: observer,
            chance: chance
        )
    }

    /// Creates a remark, and returns the result.
    func send(_ remark: Remark) async throws(RepositoryError) -> Remark {
        try await create(RemarkDTO(remark)).value
    }

    /// Returns the reason why a read of an entity fails, or `nil` if it succeeds.
    func failure(_ id: Int, _ policy: ReadPolicy = .cacheFirst) async -> RepositoryError.Reason? {
        do {
            _ = try await entity(id, policy)
            return nil
        } catch {
            return error.reason
        }
    }
}
