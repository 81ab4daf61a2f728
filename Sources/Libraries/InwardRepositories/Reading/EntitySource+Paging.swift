import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EntitySource {
    /// A page of the entities that a filter lets through.
    func fetchPage(
        _ filter: EntityFilter<Entity>,
        _ fields: [(name: String, value: String)],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> FetchedPage<Entity> {
        let asked = filter.fields.map { ($0.name, $0.value) } + fields
        let tick = memory.begin()
        defer { memory.end(tick) }
        let (answer, time) = try await read(
            endpoint.path,
            asked.map { URLQueryItem(name: $0.0, value: $0.1) },
            bypassingCaches: bypassingCaches
        )
        let list = try answer.decoded(by: endpoint.decodeList)
        if answer.mayBeKept {
            let stamp = stamp(tick, time, of: answer, share: max(1, list.entities.count))
            for entity in list.entities { memory.keep(entity, stamp) }
        }
        return FetchedPage(
            // An upstream that does not know the filter answers with everything.
            reading: answer.reading(
                list.entities.filter(filter.matches),
                fresh: endpoint.lifetimes.fresh,
                rejected: list.rejected
            ),
            ids: Set(list.entities.map(\.id)),
            recordCount: list.entities.count + list.rejected.count,
            answer: answer
        )
    }
}
