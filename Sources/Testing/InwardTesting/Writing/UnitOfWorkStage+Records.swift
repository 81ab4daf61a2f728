import InwardCore
package import InwardFetching
package import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension UnitOfWorkStage {
    /// A unit of work over an outbox and a store.
    ///
    /// - Parameters:
    ///   - store: What keeps the records and the writes.
    ///   - dataFetcher: The upstream that the writes are delivered to.
    ///   - seed: What the idempotency keys follow from.
    /// - Returns: the stage, whose close closes the outbox.
    /// - Throws: a `RecordStoreError` if the store cannot be read.
    package static func records(
        in store: any RecordStore,
        dataFetcher: any DataFetcher = StubDataFetcher(DataResponse()),
        seed: UInt64
    ) async throws(RecordStoreError) -> UnitOfWorkStage {
        let outbox = Outbox(
            upstream: Upstream(baseURL: URL(filePath: "/"), dataFetcher: dataFetcher),
            store: store,
            // Nothing is sent again while a clock stands still.
            timer: TimerService(ManualClock()),
            generator: SplitMix64(seed: seed),
            errorHandler: IgnoringErrorHandler()
        )
        let first = try await NumberRepository("first", store: store)
        let second = try await NumberRepository("second", store: store)
        try await outbox.open(settling: [first, second])
        return UnitOfWorkStage(
            RecordUnitOfWork(outbox: outbox),
            prepare: { repository, name, number in
                (repository == .first ? first : second).change(name, to: number, in: outbox)
            },
            read: { repository, name in (repository == .first ? first : second).number(name) },
            close: { await outbox.close() }
        )
    }
}
