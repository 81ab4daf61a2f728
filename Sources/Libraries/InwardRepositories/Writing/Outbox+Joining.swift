import Synchronization

extension Outbox {
    /// Has others settle what is accepted too, beside those that it was opened with: another repository of the same entities, say,
    /// that somebody else reads.
    ///
    /// They have been told of what is pending when it returns, or are when it is opened; of what is being settled at that moment they
    /// may be asked without having been told. Each write is settled by all who are for its endpoint, in one commit; they are of one
    /// mind about what is kept in the store.
    ///
    /// - Parameter settlers: Who settles, each for an endpoint of its own.
    /// - Returns: what to leave with.
    /// - Throws: a ``RecordStoreError``: `closed` if the outbox is closed; `denied` if two settlers are for one endpoint;
    ///   `cancelled` if the task was cancelled or its deadline passed.
    public func join(settling settlers: [any OutboxSettler]) async throws(RecordStoreError) -> OutboxMember {
        let byEndpoint = try Self.byEndpoint(settlers)
        // Nobody opens it meanwhile: whoever is there by then is told of what is left.
        let opening = try await turn(for: [records.owner])
        defer { leave(opening) }
        let (member, before) = try state.withLock { state throws(RecordStoreError) in
            if state.phase == .closed { throw Self.notOpen }
            // From here on they are told of what is accepted, and asked what is to be kept.
            return (state.settlers.add(byEndpoint), state.lanes.entries)
        }
        do throws(RecordStoreError) {
            // What is still pending of what was then: nobody settles any of it meanwhile.
            let ticket = try await turn(for: Set(before.map(\.write.subject)))
            defer { leave(ticket) }
            let rest = state.withLock { state in before.filter(state.lanes.contains) }
            tellSettlers(of: rest.sorted { $0.sequence < $1.sequence }, byEndpoint)
            return member
        } catch {
            leave(member)
            throw error
        }
    }

    /// Has them settle no more who joined. What they were asked before that is still done; of the end of what they were told is
    /// pending they hear no more. What nobody settles any more stays pending, until somebody joins who does.
    public func leave(_ member: OutboxMember) {
        // Let go outside of the lock, because what their end does is not known.
        _ = state.withLock { $0.settlers.remove(member) }
    }

    /// Settlers by what they settle.
    ///
    /// - Throws: a ``RecordStoreError`` if two are for the same.
    static func byEndpoint(
        _ settlers: [any OutboxSettler]
    ) throws(RecordStoreError) -> [String: any OutboxSettler] {
        let byEndpoint = Dictionary(settlers.map { ($0.endpoint, $0) }) { first, _ in first }
        if byEndpoint.count == settlers.count { return byEndpoint }
        throw RecordStoreError(
            .denied,
            explanation: "Two settlers are for one endpoint: each needs one of its own."
        )
    }

    private func tellSettlers(of entries: [OutboxEntry], _ settlers: [String: any OutboxSettler]) {
        var group = OutboxSettlers()
        _ = group.add(settlers)
        group.tell(of: entries)
    }
}
