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
    /// Combines requests for single entities.
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
    /// - Throws: a `RepositoryError`: `unavailable` if another source answers, whose version is not the upstream's.
    func fetchVersion(
        of id: Entity.ID,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> EntityVersion<Entity> {
        let (reading, entityTag) = try await fetchOne(id, bypassingCaches: bypassingCaches)
        guard reading.fallbackReason == nil else {
            throw RepositoryError(
                .unavailable,
                request: upstream.description(of: endpoint.onePath(id)),
                explanation: "was answered by another than the upstream, whose version it may not be",
                canRetry: true
            )
        }
        return EntityVersion(entity: reading.value, entityTag: entityTag)
    }

    /// Fetches an entity, or asks whether there is another version than the one in memory.
    private func fetchOne(
        _ id: Entity.ID,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> (reading: Reading<Entity>, entityTag: String?) {
        let tick = memory.begin()
        defer { memory.end(tick) }
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
                    explanation: "was answered with the record of another identity, \(entity.id)"
                )
            }
            let validator = Validator(answer.response.headerFields) ?? (isKnown ? known?.validator : nil)
            if answer.mayBeKept {
                var stamp = stamp(tick, time, of: answer)
                stamp.validator = validator
                if isKnown { stamp.byteCount = endpoint.byteCount(of: entity) }
                cache.keep(entity, stamp)
            }
            return (answer.reading(entity, fresh: endpoint.lifetimes.staleAfter), validator?.entityTag)
        } catch {
            // If another source does not have the entity, the upstream still may.
            if error.reason == .notFound, answer.mayBeKept {
                cache.keepAbsence(of: id, stamp(tick, time, of: answer))
            }
            throw error
        }
    }

    /// Fetches the entities that match a filter, or asks whether there is another list than the one in memory.
    func fetch(
        _ filter: EntityFilter<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        let query = filter.fields.map { URLQueryItem(name: $0.name, value: $0.value) }
        let tick = memory.begin()
        defer { memory.end(tick) }
        let known = memory.validated(filter)
        let url = try upstream.url(of: filter.path ?? endpoint.path, query)
        let (answer, time) = try await read(url, bypassingCaches: bypassingCaches, behind: known?.validator)
        var stamp = stamp(tick, time, of: answer)
        stamp.validator = Validator(answer.response.headerFields)
        var list: EntityList<Entity>
        if answer.response.status == .notModified, let known {
            list = known.list
            stamp.validator = stamp.validator ?? known.validator
            stamp.byteCount = list.byteCount
        } else {
            let decoded = try answer.decoded(by: endpoint.decodeList)
            // An upstream that ignores the filter returns everything.
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
    /// - Returns: the response, whatever its status, and when it was requested.
    /// - Throws: a `RepositoryError` if there is no response.
    func read(
        _ path: [String],
        _ query: [URLQueryItem] = [],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> (answer: UpstreamAnswer, time: Duration) {
        try await read(try upstream.url(of: path, query), bypassingCaches: bypassingCaches)
    }

    /// Requests the resource at a URL. If an intermediate cache answers with a copy that may predate a change, repeats the request
    /// without caches.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - bypassingCaches: Whether intermediate caches must revalidate with the upstream.
    ///   - validator: The validator of the version that is known, which need not be sent again; `nil` if none is.
    /// - Returns: the response, whatever its status, and when it was requested.
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

    /// Returns a fresh value that another caller has put into memory since this caller looked.
    ///
    /// - Parameters:
    ///   - question: The entity or list to look for.
    ///   - time: When the value that the caller found had been requested; `nil` if it found nothing.
    /// - Returns: the reading; `nil` if the value must be fetched.
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
                explanation: "was not sent: a moment ago there was nothing"
            )
        }
        return Reading(answer.value, origin: .memory, age: kept.age(at: now), rejected: answer.rejected)
    }

    /// Returns the stamp of a value that was found in the store.
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

    /// Returns when a value that was found in the store becomes stale.
    func staleTime(_ stamp: FetchStamp) -> Duration {
        stamp.time + endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
    }

    /// Returns the stamp of a response, of which one of several equal shares is to be cached.
    func stamp(_ tick: ChangeLog.Tick, _ time: Duration, of answer: UpstreamAnswer, share: Int = 1) -> FetchStamp {
        FetchStamp(
            tick: tick,
            time: time - answer.ageAtRequest,
            age: timer.now - time + answer.ageAtRequest,
            byteCount: answer.response.body.count / share,
            isFromStore: false
        )
    }
}

/// The time of the last change at an upstream, made or reported by a caller. Copies in intermediate caches that predate it are
/// outdated.
final class LastChange: Sendable {
    private let time = Mutex<Duration?>(nil)

    /// Records a change. Call it before acting on the change, so that no request is made in between.
    func note(at now: Duration) { time.withLock { $0 = max($0 ?? now, now) } }

    /// Returns whether a request at a time may have been answered before the last change.
    func isBehind(_ time: Duration) -> Bool { self.time.withLock { last in last.map { time <= $0 } ?? false } }

    /// Returns whether a response is a copy that may predate the last change.
    ///
    /// - Parameters:
    ///   - answer: The response.
    ///   - time: When it was requested.
    /// - Returns: whether the copy may be outdated; `false` for a fallback from another source, which cannot be improved upon.
    func mayBeBehind(_ answer: UpstreamAnswer, askedFor time: Duration) -> Bool {
        let response = answer.response
        guard response.fallbackReason == nil, answer.isCopy, let last = self.time.withLock(\.self) else { return false }
        // Ages are truncated to whole seconds.
        return time - answer.ageAtRequest - .seconds(1) < last
    }
}
