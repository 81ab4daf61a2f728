import UseCases

extension Repository {
    /// Sends a new record, once, and keeps the entity that it has become.
    ///
    /// - Parameters:
    ///   - record: What is sent to where the list is.
    ///   - answer: What the upstream says of it.
    ///   - entity: The entity, by what the upstream says.
    /// - Returns: the entity.
    /// - Throws: a `RepositoryError`, with `outcomeUnknown` if the record was sent and no answer tells what became of it.
    func create<Answer: Decodable>(
        _ record: some Encodable,
        answer: Answer.Type,
        _ entity: (Answer) -> Entity
    ) async throws(RepositoryError) -> Entity {
        try throwIfClosed(asking: endpoint.path)
        do throws(RepositoryError) {
            let created = entity(try await source.upstream.create(record, path: endpoint.path, answer: answer))
            // Who asks from now on is to see it, and what is under way may have been answered before.
            let byteCount = (try? endpoint.encode(created).count) ?? 0
            memory.write(created, time: timer.now, byteCount: byteCount)
            detachAll()
            return created
        } catch {
            // It may have been done, and then be in every list.
            if error.reason == .outcomeUnknown { memory.forgetLists() }
            detachAll()
            throw error
        }
    }
}
