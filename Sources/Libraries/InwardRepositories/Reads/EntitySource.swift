import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Fetches entities from an upstream, and keeps what it gets.
struct EntitySource<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    let endpoint: Endpoint<Entity>
    let upstream: Upstream
    let memory: EntityMemory<Entity>
    let timer: TimerService
    let chance: @Sendable () -> Double
    let lastChange = LastChange()
    /// What asks for several entities at once.
    private(set) var batcher: Batcher<Entity.ID, Answer>?

    init(
        _ endpoint: Endpoint<Entity>,
        upstream: Upstream,
        memory: EntityMemory<Entity>,
        timer: TimerService,
        chance: @escaping @Sendable () -> Double
    ) {
        self.endpoint = endpoint
        self.upstream = upstream
        self.memory = memory
        self.timer = timer
        self.chance = chance
        batcher = makeBatcher()
    }

    /// The entity of an identity, asked for by itself.
    func fetchAlone(_ id: Entity.ID, bypassingCaches: Bool) async throws(RepositoryError) -> Reading<Entity> {
        let tick = memory.begin()
        defer { memory.end(tick) }
        let (answer, time) = try await read(endpoint.onePath(id), bypassingCaches: bypassingCaches)
        do throws(RepositoryError) {
            let entity = try answer.decoded(by: endpoint.decodeOne)
            guard entity.id == id else {
                throw RepositoryError(
                    .unreadable,
                    request: answer.request.description,
                    explanation: "was answered with the record of another identity, \(entity.id)"
                )
            }
            if answer.mayBeKept { memory.keep(entity, stamp(tick, time, of: answer)) }
            return answer.reading(entity, fresh: endpoint.lifetimes.staleAfter)
        } catch {
            // That another than the upstream has no such entity says nothing.
            if error.reason == .notFound, answer.mayBeKept {
                memory.keepAbsence(of: id, stamp(tick, time, of: answer))
            }
            throw error
        }
    }

    /// The entities that a filter lets through.
    func fetch(
        _ filter: EntityFilter<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        let query = filter.fields.map { URLQueryItem(name: $0.name, value: $0.value) }
        let tick = memory.begin()
        defer { memory.end(tick) }
        let (answer, time) = try await read(endpoint.path, query, bypassingCaches: bypassingCaches)
        let decoded = try answer.decoded(by: endpoint.decodeList)
        // An upstream that does not know the filter answers with everything.
        var list = EntityList(decoded.entities.filter(filter.matches), rejected: decoded.rejected)
        if answer.mayBeKept { (list, _) = memory.keep(list, of: filter, stamp(tick, time, of: answer)) }
        return answer.reading(list.entities, fresh: endpoint.lifetimes.staleAfter, rejected: list.rejected)
    }

    /// Asks for what is at a path, and again without the caches on the way if what they have may be from before a change.
    ///
    /// - Parameters:
    ///   - path: Where it is, as the components of a path relative to the upstream.
    ///   - query: What is asked for there.
    ///   - bypassingCaches: Whether caches on the way must ask the upstream.
    /// - Returns: the answer, whatever its status, and when it was asked for.
    /// - Throws: a `RepositoryError` if there is none.
    func read(
        _ path: [String],
        _ query: [URLQueryItem] = [],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> (answer: UpstreamAnswer, time: Duration) {
        let time = timer.now
        var answer = try await upstream.read(path, query, bypassingCaches: bypassingCaches)
        answer.delay = timer.now - time
        guard !bypassingCaches, lastChange.mayBeBehind(answer, askedFor: time) else { return (answer, time) }
        let timeAgain = timer.now
        var answerAgain = try await upstream.read(path, query, bypassingCaches: true)
        answerAgain.delay = timer.now - timeAgain
        return (answerAgain, timeAgain)
    }

    /// What memory has of a question since somebody looked there, if it is fresh: somebody else has fetched it meanwhile.
    ///
    /// - Parameters:
    ///   - question: What is asked for.
    ///   - time: When what was found there had been asked for; `nil` if nothing was found.
    /// - Returns: the reading of it; `nil` if it is to be fetched.
    /// - Throws: that there is no such entity, if that is what is kept.
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

    /// When an answer that was found in a store was asked for.
    func stamp(_ tick: ChangeLog.Tick, of found: EntityStore<Entity>.Found<some Any>) -> FetchStamp {
        FetchStamp(
            tick: tick,
            time: timer.now - found.age,
            age: found.age,
            byteCount: found.byteCount,
            isFromStore: true
        )
    }

    /// From when on what was found in a store is stale.
    func staleTime(_ stamp: FetchStamp) -> Duration {
        stamp.time + endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
    }

    /// When an answer was asked for, of which one of so many shares is to be kept.
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

/// When somebody changed last what an upstream has, or said that it was changed: a copy from before that, of a cache on the way, is
/// not to be taken for what is there.
final class LastChange: Sendable {
    private let time = Mutex<Duration?>(nil)

    /// Notes a change. Before anything is done because of it, so that nobody asks between the two.
    func note(at now: Duration) { time.withLock { $0 = max($0 ?? now, now) } }

    /// Whether an answer is a copy that may be from before the last change.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - time: When it was asked for.
    /// - Returns: whether it is; not if it is another's answer, in whose place there is no better one.
    func mayBeBehind(_ answer: UpstreamAnswer, askedFor time: Duration) -> Bool {
        let response = answer.response
        guard response.fallbackReason == nil, answer.isCopy, let last = self.time.withLock(\.self) else { return false }
        // Ages are in whole seconds, without the rest.
        return time - answer.ageAtRequest - .seconds(1) < last
    }
}
