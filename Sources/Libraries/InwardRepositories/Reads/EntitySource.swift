import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fetches entities from an upstream and caches the results.
struct EntitySource<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable & LosslessStringConvertible {
    let endpoint: Endpoint<Entity>
    let upstream: Upstream
    let cache: PeerCache<Entity>
    let timer: TimerService
    let chance: @Sendable () -> Double
    let observer: (any RepositoryObserver)?
    /// Combines concurrent requests for single entities, if the endpoint supports it.
    private(set) var batcher: Batcher<Entity.ID, Answer>?

    init(
        _ endpoint: Endpoint<Entity>,
        upstream: Upstream,
        cache: PeerCache<Entity>,
        timer: TimerService,
        chance: @escaping @Sendable () -> Double,
        observer: (any RepositoryObserver)? = nil
    ) {
        self.endpoint = endpoint
        self.observer = observer
        self.upstream = upstream
        self.cache = cache
        self.timer = timer
        self.chance = chance
        batcher = endpoint.batching.map(makeBatcher)
    }

    var memory: EntityMemory<Entity> { cache.memory }

    /// Fetches an entity with a request of its own.
    func fetchAlone(_ id: Entity.ID, bypassingCaches: Bool) async throws(RepositoryError) -> Reading<Entity> {
        try await fetchOne(id, bypassingCaches: bypassingCaches).reading
    }

    /// Fetches an entity and its entity tag with a request of its own.
    ///
    /// - Throws: a `RepositoryError`: `unavailable` if the response is a fallback from another source.
    func fetchVersion(
        of id: Entity.ID,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> EntityVersion<Entity> {
        let (reading, entityTag) = try await fetchOne(id, bypassingCaches: bypassingCaches)
        guard reading.fallbackReason == nil else {
            throw RepositoryError(
                .unavailable,
                request: upstream.description(of: endpoint.onePath(id)),
                explanation: "was answered by a fallback, so the upstream's version is not known",
                canRetry: true
            )
        }
        return EntityVersion(entity: reading.value, entityTag: entityTag)
    }

    /// Fetches an entity, or revalidates the version in memory.
    private func fetchOne(
        _ id: Entity.ID,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> (reading: Reading<Entity>, entityTag: String?) {
        let fetch = await begin()
        defer { memory.end(fetch.tick) }
        let known = memory.entities.peek(id).flatMap { kept in
            kept.value.flatMap { value in kept.validator.map { (entity: value, validator: $0) } }
        }
        let url = try upstream.url(of: endpoint.onePath(id), [])
        let (answer, time) = try await read(url, bypassingCaches: bypassingCaches, behind: known?.validator)
        do throws(RepositoryError) {
            let isKnown = answer.response.status == .notModified
            if known != nil, isKnown || answer.response.status.isSuccess {
                observer?.revalidated(endpoint.name, isModified: !isKnown)
            }
            let entity = if isKnown, let known { known.entity } else { try answer.decoded(by: endpoint.decodeOne) }
            guard entity.id == id else {
                throw RepositoryError(
                    .unreadable,
                    request: answer.request.description,
                    explanation: "returned a record with another identifier: \(entity.id)"
                )
            }
            let validator = Validator(answer.response.headerFields) ?? (isKnown ? known?.validator : nil)
            if answer.mayBeKept {
                var stamp = stamp(fetch, time, of: answer)
                stamp.validator = validator
                if isKnown { stamp.byteCount = endpoint.byteCount(of: entity) }
                cache.keep(entity, stamp)
            }
            return (answer.reading(entity, fresh: endpoint.lifetimes.staleAfter), validator?.entityTag)
        } catch {
            // Only the upstream can say that an entity is missing. A fallback cannot.
            if error.reason == .notFound, answer.mayBeKept {
                cache.keepAbsence(of: id, stamp(fetch, time, of: answer))
            }
            throw error
        }
    }

    /// Fetches the entities that match a filter, or revalidates the list in memory.
    func fetch(
        _ filter: EntityFilter<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        let query = filter.fields.map { URLQueryItem(name: $0.name, value: $0.value) }
        let fetch = await begin()
        defer { memory.end(fetch.tick) }
        let known = memory.validated(filter)
        let url = try upstream.url(of: filter.path ?? endpoint.path, query)
        let (answer, time) = try await read(url, bypassingCaches: bypassingCaches, behind: known?.validator)
        var stamp = stamp(fetch, time, of: answer)
        stamp.validator = Validator(answer.response.headerFields)
        var list: EntityList<Entity>
        if answer.response.status == .notModified, let known {
            list = known.list
            stamp.validator = stamp.validator ?? known.validator
            stamp.byteCount = list.byteCount
        } else {
            let decoded = try answer.decoded(by: endpoint.decodeList)
            // An upstream that ignores the filter returns all entities.
            list = EntityList(decoded.entities.filter(filter.matches), rejected: decoded.rejected)
        }
        if answer.mayBeKept { list = cache.keep(list, of: filter, stamp) }
        return answer.reading(list.entities, fresh: endpoint.lifetimes.staleAfter, rejected: list.rejected)
    }

    /// Requests the resource at a path.
    ///
    /// - Parameters:
    ///   - path: The path components, relative to the upstream.
    ///   - query: The query items.
    ///   - bypassingCaches: Whether intermediate caches must revalidate with the upstream.
    /// - Returns: the response, with any status, and the time of its request.
    /// - Throws: a `RepositoryError` if there is no response.
    func read(
        _ path: [String],
        _ query: [URLQueryItem] = [],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> (answer: UpstreamAnswer, time: Duration) {
        try await read(try upstream.url(of: path, query), bypassingCaches: bypassingCaches)
    }

    /// Requests the resource at a URL. Repeats the request without caches if an intermediate cache returns a copy that may be
    /// older than the last change.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - bypassingCaches: Whether intermediate caches must revalidate with the upstream.
    ///   - validator: The validator of the cached version, for a conditional request, or `nil` for an unconditional one.
    /// - Returns: the response, with any status, and the time of its request.
    /// - Throws: a `RepositoryError` if there is no response.
    func read(
        _ url: URL,
        bypassingCaches: Bool,
        behind validator: Validator? = nil
    ) async throws(RepositoryError) -> (answer: UpstreamAnswer, time: Duration) {
        let (format, time) = (endpoint.format, timer.now)
        var answer = try await upstream.read(url, format, bypassingCaches: bypassingCaches, behind: validator)
        answer.delay = timer.now - time
        guard !bypassingCaches, cache.lastChange.mayBeBehind(answer, askedFor: time) else { return (answer, time) }
        let timeAgain = timer.now
        var answerAgain = try await upstream.read(url, format, bypassingCaches: true, behind: validator)
        answerAgain.delay = timer.now - timeAgain
        return (answerAgain, timeAgain)
    }

    /// Returns a fresh value that another caller has cached since this caller's lookup.
    ///
    /// - Parameters:
    ///   - question: The entity or list to look up.
    ///   - time: The request time of the value that the caller found, or `nil` if it found none.
    /// - Returns: the reading, or `nil` if the value must be fetched.
    /// - Throws: `notFound` if the entity is cached as missing.
    func reading<Question: RepositoryQuestion>(
        of question: Question,
        keptSince time: Duration?
    ) throws(RepositoryError) -> Reading<Question.Value>? where Question.Entity == Entity {
        let now = timer.now
        guard let kept = question.kept(in: memory), now < kept.staleTime, time.map({ $0 < kept.time }) ?? true else {
            return nil
        }
        guard let answer = question.answer(kept.value) else {
            throw RepositoryError(
                .notFound,
                request: upstream.description(of: question.path(in: endpoint)),
                explanation: "was not sent: the upstream did not have it when it was last asked"
            )
        }
        return Reading(answer.value, origin: .memory, age: kept.age(at: now), rejected: answer.rejected)
    }

    /// Returns the stamp of a value from the store.
    func stamp(_ tick: ChangeLog.Tick, of found: EntityStore<Entity>.Found<some Any>) -> FetchStamp {
        FetchStamp(
            tick: tick,
            time: timer.now - found.age,
            age: found.age,
            byteCount: found.byteCount,
            isFromStore: true,
            validator: found.validator
        )
    }

    /// Returns the time at which a value from the store becomes stale.
    func staleTime(_ stamp: FetchStamp) -> Duration {
        stamp.time + endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
    }

    /// Begins a fetch. All later changes, on this instance or another one, count as newer than its result. The caller ends it in
    /// ``memory``.
    func begin() async -> FetchStart {
        guard let store = cache.store, let (generation, isRead) = await store.writer.currentGeneration() else {
            return FetchStart(tick: memory.begin(), generation: nil)
        }
        // This instance may not have heard of the change yet, or may not have run then.
        if isRead, let age = store.age(of: generation) { cache.lastChange.note(at: timer.now - age) }
        return FetchStart(tick: memory.begin(), generation: generation)
    }

    /// Returns the stamp of a response, or of one of its entities. `share` is the number of entities that divide its size.
    func stamp(_ fetch: FetchStart, _ time: Duration, of answer: UpstreamAnswer, share: Int = 1) -> FetchStamp {
        FetchStamp(
            tick: fetch.tick,
            time: time - answer.ageAtRequest,
            age: timer.now - time + answer.ageAtRequest,
            byteCount: answer.response.body.count / share,
            isFromStore: false,
            generation: fetch.generation
        )
    }
}

/// The state of the caches when a fetch began.
struct FetchStart {
    let tick: ChangeLog.Tick
    let generation: CacheGeneration?
}

/// The time of the last change at an upstream that a caller has made or reported. Older copies in intermediate caches are
/// outdated.
final class LastChange: Sendable {
    private let time = Mutex<Duration?>(nil)

    /// Records a change. Call this before you apply the change, so that no request is made in between.
    func note(at now: Duration) { time.withLock { $0 = max($0 ?? now, now) } }

    /// Returns whether the response to a request at this time may be older than the last change.
    func isBehind(_ time: Duration) -> Bool { self.time.withLock { last in last.map { time <= $0 } ?? false } }

    /// Returns whether a response is a copy that may be older than the last change.
    ///
    /// - Parameters:
    ///   - answer: The response.
    ///   - time: The time of its request.
    /// - Returns: whether the copy may be outdated. `false` for a fallback from another source, because another request would
    ///   not return anything better.
    func mayBeBehind(_ answer: UpstreamAnswer, askedFor time: Duration) -> Bool {
        let response = answer.response
        guard response.fallbackReason == nil, answer.isCopy, let last = self.time.withLock(\.self) else { return false }
        // The `Age` header field is truncated to whole seconds.
        return time - answer.ageAtRequest - .seconds(1) < last
    }
}
