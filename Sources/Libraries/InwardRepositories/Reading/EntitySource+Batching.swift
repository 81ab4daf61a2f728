import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EntitySource {
    typealias Answer = Result<Reading<Entity>, RepositoryError>

    /// What asks for several entities at once; `nil` if the endpoint has no request for that.
    func makeBatcher() -> Batcher<Entity.ID, Answer>? {
        endpoint.batching.map { batching in
            Batcher(limit: batching.limit, window: batching.window, timer: timer) { ids in
                guard ids.count > 1 else {
                    return [
                        ids[0]: await Result(awaiting: { () async throws(RepositoryError) in
                            try await fetchAlone(ids[0], bypassingCaches: false)
                        })
                    ]
                }
                return await fetch(ids, batching)
            }
        }
    }

    /// Asks for several entities at once.
    ///
    /// - Returns: an answer to each of them.
    private func fetch(_ ids: [Entity.ID], _ batching: Batching<Entity.ID>) async -> [Entity.ID: Answer] {
        let tick = memory.begin()
        defer { memory.end(tick) }
        do throws(RepositoryError) {
            let query = batching.fields(ids).map { URLQueryItem(name: $0.name, value: $0.value) }
            let (answer, time) = try await read(endpoint.path, query, bypassingCaches: false)
            let list = try answer.decoded(by: endpoint.decodeList)
            let entities = Dictionary(list.entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            let stamp = stamp(tick, time, of: answer, share: max(1, list.entities.count))
            var answers: [Entity.ID: Answer] = [:]
            for id in ids {
                if let entity = entities[id] {
                    if answer.mayBeKept { memory.keep(entity, stamp) }
                    answers[id] = .success(answer.reading(entity, fresh: endpoint.lifetimes.fresh))
                } else if let damaged = list.rejected.first {
                    // It may be the one that cannot be read.
                    answers[id] = .failure(
                        RepositoryError(
                            .unreadable,
                            request: answer.request.description,
                            explanation: "was answered without \(id) and with what cannot be used: \(damaged)"
                        )
                    )
                } else {
                    if answer.mayBeKept { memory.keepAbsence(of: id, stamp) }
                    answers[id] = .failure(
                        RepositoryError(
                            .notFound,
                            request: answer.request.description,
                            explanation: "was answered without \(id)"
                        )
                    )
                }
            }
            return answers
        } catch {
            return Dictionary(ids.map { ($0, .failure(error)) }, uniquingKeysWith: { first, _ in first })
        }
    }
}
