import InwardCore

extension Repository {
    /// Answers a question from the nearest place that a policy allows, with what is pending on top.
    func read<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ lane: RepositoryLane<Question>
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        try throwIfClosed(asking: question.path(in: endpoint))
        if pending.isEmpty { return try await readAccepted(question, policy, lane) }
        var tries = 0
        while true {
            let snapshot = pending.snapshot
            if let reading = question.reading(among: pending) { return reading }
            let reading = try await readAccepted(question, policy, lane)
            tries += 1
            // What was delivered meanwhile may be in both. Where something always is, that has to do.
            if tries == 3 || pending.isCurrent(snapshot) { return question.adding(snapshot, to: reading) }
        }
    }

    /// Answers a question by what the upstream has said.
    private func readAccepted<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ lane: RepositoryLane<Question>
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let kept = question.kept(in: memory)
        if let kept, let reading = try reading(question, kept, .memory, policy, lane) { return reading }
        let answer = await Result(awaiting: { () async throws(RepositoryError) in
            try await readOn(question, policy, lane, behind: kept)
        })
        // It may have been closed meanwhile.
        try throwIfClosed(asking: question.path(in: endpoint))
        return try answer.get()
    }

    /// Answers a question that memory has no answer to, or one that does not do.
    private func readOn<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ lane: RepositoryLane<Question>,
        behind inMemory: KeptAnswer<Question.Kept>?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        var seen = inMemory
        // The store has nothing newer than memory.
        if seen == nil, policy.allowsCopies, let kept = try await load(question, lane) {
            if let reading = try reading(question, kept, .store, policy, lane) { return reading }
            seen = kept
        }
        guard policy.asksUpstream else {
            throw error(.unavailable, question, "was not sent: nothing is kept, and nobody else was to be asked")
        }
        do throws(RepositoryError) {
            return try await fetch(question, policy, lane, behind: seen?.time)
        } catch {
            guard error.leavesRoomForOthers else { throw error }
            guard let reading = try await readingInstead(question, policy, of: error, lane) else { throw error }
            return reading
        }
    }

    /// A reading of what is kept, if it is of use.
    ///
    /// - Throws: that there is no such entity, if that is what is kept.
    private func reading<Question: RepositoryQuestion>(
        _ question: Question,
        _ kept: KeptAnswer<Question.Kept>,
        _ origin: Origin,
        _ policy: ReadPolicy,
        _ lane: RepositoryLane<Question>
    ) throws(RepositoryError) -> Reading<Question.Value>? where Question.Entity == Entity {
        let now = timer.now
        let isStale: Bool
        switch kept.use(policy, at: now, endpoint.lifetimes) {
        case .notGiven: return nil
        case .given(let stale): isStale = stale
        case .givenWhileRevalidating: isStale = true
        }
        guard let answer = question.answer(kept.value) else {
            // That there was nothing is not given any longer than it is fresh, unless nobody else may be asked.
            guard !isStale || !policy.asksUpstream else { return nil }
            throw error(.notFound, question, "was not sent: a moment ago there was nothing")
        }
        if isStale, policy.asksUpstream { refresh(question, lane, behind: kept.time) }
        return Reading(
            answer.value,
            origin: origin,
            age: kept.age(at: now),
            isStale: isStale,
            rejected: answer.rejected
        )
    }

    /// A reading of what is kept, where the upstream has failed.
    private func readingInstead<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        of error: RepositoryError,
        _ lane: RepositoryLane<Question>
    ) async throws(RepositoryError) -> Reading<Question.Value>? where Question.Entity == Entity {
        var kept = question.kept(in: memory)
        var origin = Origin.memory
        if kept == nil {
            kept = try await load(question, lane)
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
            degradation: error
        )
    }

    /// Asks anew, for those who come later.
    private func refresh<Question: RepositoryQuestion>(
        _ question: Question,
        _ lane: RepositoryLane<Question>,
        behind time: Duration
    ) where Question.Entity == Entity {
        lane.refreshes.begin(question) { [weak self] in
            // Nobody waits for it. Who comes when stale answers are not given any more is told what is the matter.
            _ = try? await self?.fetch(question, bypassingCaches: false, lane, behind: time)
        }
    }

    /// What the upstream says, no older than a policy lets it be.
    private func fetch<Question: RepositoryQuestion>(
        _ question: Question,
        _ policy: ReadPolicy,
        _ lane: RepositoryLane<Question>,
        behind time: Duration?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let largest = policy.largestAge ?? .seconds(Int64.max)
        var reading = try await fetch(question, bypassingCaches: !policy.allowsCopies, lane, behind: time)
        // A cache on the way has had it for too long.
        if reading.age > largest, policy.allowsCopies {
            reading = try await fetch(question, bypassingCaches: true, lane, behind: nil)
        }
        guard reading.age > largest else { return reading }
        throw error(.unavailable, question, "was answered with what is older than it may be", canRetry: true)
    }

    /// What the upstream says, asked once for all who ask at the same time, unless somebody has asked since the caller looked.
    private func fetch<Question: RepositoryQuestion>(
        _ question: Question,
        bypassingCaches: Bool,
        _ lane: RepositoryLane<Question>,
        behind time: Duration?
    ) async throws(RepositoryError) -> Reading<Question.Value> where Question.Entity == Entity {
        let stricter = RepositoryLane<Question>.Fetch(question: question, bypassesCaches: true)
        // Who would take a copy takes what comes of asking the upstream itself, too.
        let isStrict = bypassingCaches || lane.fetches.isUnderWay(stricter)
        let key = RepositoryLane<Question>.Fetch(question: question, bypassesCaches: isStrict)
        let outcome = await lane.fetches.outcome(for: key) { [source] fetch throws(RepositoryError) in
            // Asked here, where nobody else fetches the same: whoever did so since has kept what came of it.
            if !fetch.bypassesCaches, let reading = try source.reading(of: fetch.question, keptSince: time) {
                return reading
            }
            return try await fetch.question.fetch(from: source, bypassingCaches: fetch.bypassesCaches)
        }
        switch outcome {
        case .kept(let answer): return try answer.get()
        case .cancelled: throw error(.cancelled, question, "was cancelled")
        case .deadlinePassed: throw late(question)
        }
    }

    /// What is kept in the store; `nil` if that is nothing, or the store fails.
    private func load<Question: RepositoryQuestion>(
        _ question: Question,
        _ lane: RepositoryLane<Question>
    ) async throws(RepositoryError) -> KeptAnswer<Question.Kept>? where Question.Entity == Entity {
        guard let store else { return nil }
        let outcome = await lane.loads.outcome(for: question) { [source] question in
            do throws(RecordStoreError) {
                return try await question.kept(in: store, source)
            } catch {
                store.report(error)
                return nil
            }
        }
        switch outcome {
        case .kept(.success(let kept)): return kept
        case .cancelled: throw error(.cancelled, question, "was cancelled")
        case .deadlinePassed: throw late(question)
        }
    }

    private func late(_ question: some RepositoryQuestion<Entity>) -> RepositoryError {
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
    /// Whether what is kept may be given instead: the upstream could not answer. If it would not, what is kept is not for whoever
    /// asks, or is there no more.
    fileprivate var leavesRoomForOthers: Bool { [.unavailable, .unreadable].contains(reason) }
}
