import InwardCore

extension Repository {
    /// Answers a question and reports the answer to the observer.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - policy: The read policy.
    ///   - requests: The requests in flight for questions of this type.
    ///   - kept: The answer in memory, or `nil` if the caller did not look it up or found none.
    /// - Returns: a reading of the answer.
    /// - Throws: a `RepositoryError` if the question cannot be answered.
    func read<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>,
        _ kept: KeptAnswer<Question.Kept>?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        guard let observer else { return try await answer(question, policy, requests, kept) }
        let read = RepositoryRead(endpoint.name, isList: Question.isList)
        let start = timer.now
        do throws(RepositoryError) {
            let reading = try await observer.surround(.read(read)) { () async throws(RepositoryError) in
                try await answer(question, policy, requests, kept)
            }
            observer.readEnded(read, by: policy, .success(RepositoryRead.Answer(reading)), after: timer.now - start)
            return reading
        } catch {
            observer.readEnded(read, by: policy, .failure(error), after: timer.now - start)
            throw error
        }
    }

    /// Answers a question from memory, the store or the upstream, as the policy allows, with pending writes applied.
    private func answer<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>,
        _ kept: KeptAnswer<Question.Kept>?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        try throwIfClosed(asking: question.path(in: endpoint))
        let asked = question
        let question = asked.current(in: pending)
        let kept = question == asked ? kept : nil
        if pending.isEmpty { return try await readAccepted(question, policy, requests, kept) }
        var tries = 0
        while true {
            let snapshot = pending.snapshot
            switch question.version(in: pending) {
            case .entity(let value): return Reading(value, origin: .memory, isPending: true)
            case .deleted:
                throw error(.notFound, question, "was not sent: its deletion is pending")
            case .unknown, nil: break
            }
            let reading = try await readAccepted(question, policy, requests, nil)
            tries += 1
            // A write that was delivered during the read may be in the snapshot and in the reading, so try again. After three
            // tries, accept the result.
            if tries == 3 || pending.isCurrent(snapshot) { return question.adding(snapshot, pending, to: reading) }
        }
    }

    /// Answers a question without pending writes.
    private func readAccepted<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>,
        _ kept: KeptAnswer<Question.Kept>?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let kept = kept ?? question.kept(in: memory)
        if let kept, let reading = try reading(question, kept, .memory, policy, requests) { return reading }
        do throws(RepositoryError) {
            return try await readOn(question, policy, requests, behind: kept)
        } catch {
            // Closing cancels requests. What the upstream has answered reaches the caller, even if the answer, such as a denial, has
            // caused the repository to be closed.
            if error.reason == .cancelled || error.reason == .unavailable {
                try throwIfClosed(asking: question.path(in: endpoint))
            }
            throw error
        }
    }

    /// Answers a question from the store or the upstream.
    private func readOn<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>,
        behind inMemory: KeptAnswer<Question.Kept>?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        var seen = inMemory
        // The store never has a newer answer than memory.
        if seen == nil, policy.allowsCopies, let kept = try await load(question, requests) {
            if let reading = try reading(question, kept, .store, policy, requests) { return reading }
            seen = kept
        }
        guard policy.asksUpstream else {
            throw error(.unavailable, question, "was not sent: nothing is cached, and the policy excludes the upstream")
        }
        do throws(RepositoryError) {
            return try await fetch(question, policy, requests, behind: seen?.time)
        } catch {
            guard error.leavesRoomForOthers else { throw error }
            guard let reading = try await readingInstead(question, policy, of: error, requests) else { throw error }
            return reading
        }
    }

    /// Returns a reading of a cached value, or `nil` if the policy does not allow its use.
    ///
    /// - Throws: `notFound` if the entity is cached as missing.
    private func reading<Question: RepositoryQuestion>(
        _ question: Question,
        _ kept: KeptAnswer<Question.Kept>,
        _ origin: Origin,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>
    ) throws(RepositoryError) -> Reading<Question.Value>? where Question.Entity == Entity {
        let now = timer.now
        let isStale: Bool
        switch kept.use(policy, at: now, endpoint.lifetimes) {
        case .notGiven: return nil
        case .given(let stale): isStale = stale
        case .givenWhileRevalidating: isStale = true
        }
        guard let answer = question.answer(kept.value) else {
            // A cached absence is never returned stale, unless the policy excludes the upstream.
            guard !isStale || !policy.asksUpstream else { return nil }
            throw error(.notFound, question, "was not sent: the upstream did not have it when it was last asked")
        }
        if isStale, policy.asksUpstream { refresh(question, requests, behind: kept.time) }
        return Reading(
            answer.value,
            origin: origin,
            age: kept.age(at: now),
            isStale: isStale,
            rejected: answer.rejected
        )
    }

    /// Returns a reading of a cached value as a fallback for an error, or `nil` if the policy does not allow one.
    private func readingInstead<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        of error: RepositoryError,
        _ requests: InFlightRequests<Question>
    ) async throws(RepositoryError) -> Reading<Question.Value>? where Question.Entity == Entity {
        var kept = question.kept(in: memory)
        var origin = Origin.memory
        if kept == nil {
            kept = try await load(question, requests)
            origin = .store
        }
        let now = timer.now
        guard let kept, case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes, hasFailed: true),
            let answer = question.answer(kept.value)
        else { return nil }
        return Reading(
            answer.value,
            origin: origin,
            age: kept.age(at: now),
            isStale: isStale,
            rejected: answer.rejected,
            fallbackReason: error
        )
    }

    /// Refreshes a value in the background.
    private func refresh<Question: RepositoryQuestion>(
        _ question: Question,
        _ requests: InFlightRequests<Question>,
        behind time: Duration
    ) where Question.Entity == Entity {
        requests.refreshes.begin(question) { [weak self, endpointName = endpoint.name] in
            self?.observer?.refreshBegan(RepositoryRead(endpointName, isList: Question.isList))
            // No caller waits for this error. Reads get an error of their own when the stale value may no longer be returned.
            _ = try? await self?.fetch(question, bypassingCaches: false, requests, behind: time)
        }
    }

    /// Fetches a value that is not older than the policy allows.
    private func fetch<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ requests: InFlightRequests<Question>,
        behind time: Duration?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let largest = policy.maximumAge ?? .seconds(Int64.max)
        var reading = try await fetch(question, bypassingCaches: !policy.allowsCopies, requests, behind: time)
        // An intermediate cache has returned a copy that is too old, so bypass it.
        if reading.age > largest, policy.allowsCopies {
            reading = try await fetch(question, bypassingCaches: true, requests, behind: nil)
        }
        guard reading.age > largest else { return reading }
        throw error(.unavailable, question, "has a response that is older than the policy allows", canRetry: true)
    }

    /// Fetches a value in a request that concurrent callers share. Returns the cached value instead if another caller has
    /// cached a newer one since this caller's lookup.
    private func fetch<Question: RepositoryQuestion>(
        _ question: Question,
        bypassingCaches: Bool,
        _ requests: InFlightRequests<Question>,
        behind time: Duration?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let stricter = InFlightRequests<Question>.Fetch(question: question, bypassesCaches: true)
        // A caller that accepts copies can also join a request that bypasses caches.
        let isStrict = bypassingCaches || requests.fetches.isUnderWay(stricter)
        let key = InFlightRequests<Question>.Fetch(question: question, bypassesCaches: isStrict)
        let outcome = await requests.fetches.outcome(for: key) {
            observer?.joined(RepositoryRead(endpoint.name, isList: Question.isList))
        } _: { [source] fetch throws(RepositoryError) in
            // Checked here because no other request for the same value is in flight now. If one has just ended, its result is
            // cached.
            if !fetch.bypassesCaches, let reading = try source.reading(of: fetch.question, keptSince: time) {
                return reading
            }
            return try await fetch.question.fetch(from: source, bypassingCaches: fetch.bypassesCaches)
        }
        switch outcome {
        case .fulfilled(let answer): return try answer.get()
        case .cancelled: throw error(.cancelled, question, "was cancelled")
        case .deadlinePassed: throw late(question)
        }
    }

    /// Returns the stored value, or `nil` if there is none or the store fails.
    private func load<Question: RepositoryQuestion>(
        _ question: Question,
        _ requests: InFlightRequests<Question>
    ) async throws(RepositoryError) -> KeptAnswer<Question.Kept>? where Question.Entity == Entity {
        guard let store else { return nil }
        let outcome = await requests.loads.outcome(for: question) { [source] question in
            do throws(RecordStoreError) {
                return try await question.kept(in: store, source)
            } catch {
                store.report(error)
                return nil
            }
        }
        switch outcome {
        case .fulfilled(.success(let kept)): return kept
        case .cancelled: throw error(.cancelled, question, "was cancelled")
        case .deadlinePassed: throw late(question)
        }
    }

    func late(_ question: some RepositoryQuestion<Entity>) -> RepositoryError {
        error(.unavailable, question, "was not answered before the deadline", canRetry: true)
    }

    private func error<Question: RepositoryQuestion>(
        _ reason: RepositoryError.Reason,
        _ question: Question,
        _ explanation: String,
        canRetry: Bool = false
    ) -> RepositoryError where Question.Entity == Entity {
        let request = source.upstream.description(of: question.path(in: endpoint))
        return RepositoryError(reason, request: request, explanation: explanation, canRetry: canRetry)
    }
}

extension RepositoryError {
    /// Whether a cached value may replace the error. It may if the upstream was unable to answer. If the upstream refused, the
    /// caller may not be allowed to see the value, or the entity may no longer exist.
    var leavesRoomForOthers: Bool { [.unavailable, .unreadable].contains(reason) }
}

/// A question to a repository: for one entity, or for a list.
protocol RepositoryQuestion<Entity>: Hashable, Sendable {
    associatedtype Entity: Identifiable & Sendable where Entity.ID: Sendable & LosslessStringConvertible
    /// The cached form of an answer.
    associatedtype Kept: Sendable
    /// The value of an answer.
    associatedtype Value: Sendable
    /// Whether the answer is a list.
    static var isList: Bool { get }

    /// Returns the cached answer in memory.
    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<Kept>?

    /// Returns the cached answer in a store, and puts it into memory.
    func kept(in store: EntityStore<Entity>, _ source: EntitySource<Entity>) async throws(RecordStoreError)
        -> KeptAnswer<Kept>?

    /// Fetches the answer from the upstream.
    func fetch(from source: EntitySource<Entity>, bypassingCaches: Bool) async throws(RepositoryError) -> Reading<Value>

    /// Returns the answer in a cached value, or `nil` if the entity is cached as missing.
    func answer(_ kept: Kept) -> (value: Value, rejected: [RejectedRecord])?

    /// Returns the question with the upstream's identifier, if it names an entity by a pending identifier that the upstream has
    /// replaced.
    func current(in pending: PendingLayer<Entity>) -> Self

    /// Returns the answer if it depends only on pending writes.
    func version(in pending: PendingLayer<Entity>) -> PendingVersion<Value>?

    /// Applies the pending writes to a reading.
    func adding(
        _ snapshot: PendingLayer<Entity>.Snapshot,
        _ pending: PendingLayer<Entity>,
        to reading: Reading<Value>
    ) -> Reading<Value>

    /// Returns the path components of the question, relative to the upstream.
    func path(in endpoint: Endpoint<Entity>) -> [String]
}

/// The question for the entity with an identifier.
struct EntityQuestion<Entity: Identifiable & Sendable>: RepositoryQuestion
where Entity.ID: Sendable & LosslessStringConvertible {
    let id: Entity.ID

    static var isList: Bool { false }

    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<Entity?>? { memory.entity(id) }

    func kept(
        in store: EntityStore<Entity>,
        _ source: EntitySource<Entity>
    ) async throws(RecordStoreError) -> KeptAnswer<Entity?>? {
        let tick = source.memory.begin()
        defer { source.memory.end(tick) }
        guard let found = try await store.entity(id) else { return nil }
        let stamp = source.stamp(tick, of: found)
        guard source.memory.keep(found.value, stamp) else { return kept(in: source.memory) }
        return KeptAnswer(
            value: found.value,
            time: stamp.time,
            staleTime: source.staleTime(stamp),
            validator: stamp.validator
        )
    }

    func fetch(
        from source: EntitySource<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<Entity> {
        // A batch may be answered from an intermediate cache, so a read that accepts no copies needs a request of its own.
        guard !bypassingCaches, let batcher = source.batcher else {
            return try await source.fetchAlone(id, bypassingCaches: bypassingCaches)
        }
        switch await batcher.answer(to: id) {
        case .fulfilled(let answer): return try answer.get()
        case .cancelled, .deadlinePassed:
            let request = source.upstream.description(of: path(in: source.endpoint))
            throw RepositoryError(.cancelled, request: request, explanation: "was cancelled")
        }
    }

    func answer(_ kept: Entity?) -> (value: Entity, rejected: [RejectedRecord])? { kept.map { ($0, []) } }

    func current(in pending: PendingLayer<Entity>) -> Self { Self(id: pending.currentID(id)) }

    func version(in pending: PendingLayer<Entity>) -> PendingVersion<Entity>? { pending.version(id) }

    func adding(
        _ snapshot: PendingLayer<Entity>.Snapshot,
        _ pending: PendingLayer<Entity>,
        to reading: Reading<Entity>
    ) -> Reading<Entity> {
        guard let entity = pending.version(id, over: .entity(reading.value))?.entity else { return reading }
        return reading.pending(entity)
    }

    func path(in endpoint: Endpoint<Entity>) -> [String] { endpoint.onePath(id) }

    static func == (first: Self, second: Self) -> Bool { first.id == second.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The question for the entities that match a filter.
struct ListQuestion<Entity: Identifiable & Sendable>: RepositoryQuestion
where Entity.ID: Sendable & LosslessStringConvertible {
    let filter: EntityFilter<Entity>

    static var isList: Bool { true }

    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<EntityList<Entity>>? { memory.list(filter) }

    func kept(
        in store: EntityStore<Entity>,
        _ source: EntitySource<Entity>
    ) async throws(RecordStoreError) -> KeptAnswer<EntityList<Entity>>? {
        let tick = source.memory.begin()
        defer { source.memory.end(tick) }
        guard let found = try await store.list(filter) else { return nil }
        let stamp = source.stamp(tick, of: found)
        let (list, isCurrent) = source.memory.keep(found.value, of: filter, stamp)
        guard isCurrent else { return kept(in: source.memory) }
        return KeptAnswer(value: list, time: stamp.time, staleTime: source.staleTime(stamp))
    }

    func fetch(
        from source: EntitySource<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await source.fetch(filter, bypassingCaches: bypassingCaches)
    }

    func answer(_ kept: EntityList<Entity>) -> (value: [Entity], rejected: [RejectedRecord])? {
        (kept.entities, kept.rejected)
    }

    func current(in pending: PendingLayer<Entity>) -> Self { self }

    func version(in pending: PendingLayer<Entity>) -> PendingVersion<[Entity]>? { nil }

    func adding(
        _ snapshot: PendingLayer<Entity>.Snapshot,
        _ pending: PendingLayer<Entity>,
        to reading: Reading<[Entity]>
    ) -> Reading<[Entity]> {
        snapshot.applied(to: reading.value, where: filter.matches).map(reading.pending) ?? reading
    }

    func path(in endpoint: Endpoint<Entity>) -> [String] { filter.path ?? endpoint.path }
}

extension Reading {
    /// Returns this reading with a value that contains pending writes.
    fileprivate func pending(_ value: Value) -> Reading {
        Reading(
            value,
            origin: origin,
            age: age,
            isStale: isStale,
            isPending: true,
            rejected: rejected,
            fallbackReason: fallbackReason
        )
    }
}
