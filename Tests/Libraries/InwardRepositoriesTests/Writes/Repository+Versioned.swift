import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import TestSupport

@testable import InwardRepositories

extension Repository<Remark> {
    /// Returns a repository whose remarks can be created, updated and deleted. Pending remarks have negative identifiers.
    static func versioned(
        _ source: any DataFetcher,
        _ editing: Editing<Remark>? = Editing(.put),
        keepsDraftIDs: Bool = false,
        lifetimes: Lifetimes = Lifetimes(),
        memory: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        batching: Batching<Int>? = nil,
        outbox: (any RepositoryOutbox)? = nil,
        timer: TimerService = TimerService(ManualClock()),
        observer: (any RepositoryObserver)? = nil
    ) throws -> Repository<Remark> {
        let bits = Numbers()
        return Repository(
            Endpoint(
                RemarkDTO.self,
                at: "remarks",
                subjects: { [["users", String($0.author)]] },
                lifetimes: lifetimes,
                batching: batching,
                creation: Creation<Remark>(RemarkDTO.self, answer: RemarkDTO.self) { draft, number in
                    let id = keepsDraftIDs ? draft.id : -1 - number
                    return Remark(id: id, author: draft.author, text: draft.text)
                } created: { _, answer in
                    Remark(id: answer.id, author: answer.author, text: answer.text)
                },
                editing: editing
            ),
            upstream: try .example(source),
            memory: memory,
            store: store,
            outbox: outbox,
            timer: timer,
            observer: observer,
            chance: { bits.next() }
        )
    }
}

/// Random numbers from 0 to 1.
private final class Numbers: Sendable {
    private let generator = Mutex(SplitMix64(seed: 7))

    func next() -> Double { generator.withLock { .random(in: 0..<1, using: &$0) } }
}
