import InwardCore
import Synchronization
import TestSupport
import Testing

struct ReadingsTests {
    /// Reads the sequence for a cached answer and a source's answer. Returns the values, the error that ends the sequence, the
    /// policies of the reads, and the value of a further call to `next()`.
    private func given(
        kept: Result<Reading<Int>, RepositoryError>,
        upstream: Result<Reading<Int>, RepositoryError> = .success(Reading(2, origin: .upstream)),
        notOlderThan maximumAge: Duration? = nil
    ) async -> (values: [Int], error: RepositoryError.Reason?, asked: [ReadPolicy], extra: Int?) {
        let log = PolicyLog()
        let readings = Readings(notOlderThan: maximumAge) { policy throws(RepositoryError) in
            log.note(policy)
            return try policy == .cacheOnly ? kept.get() : upstream.get()
        }
        var values: [Int] = []
        var iterator = readings.makeAsyncIterator()
        do {
            while let reading = try await iterator.next() { values.append(reading.value) }
            return (values, nil, log.all, (try? await iterator.next())?.value)
        } catch {
            return (values, error.reason, log.all, (try? await iterator.next())?.value)
        }
    }

    private final class PolicyLog: Sendable {
        private let noted = Mutex<[ReadPolicy]>([])

        var all: [ReadPolicy] { noted.withLock(\.self) }

        func note(_ policy: ReadPolicy) { noted.withLock { $0.append(policy) } }
    }

    private func kept(age: Duration = .zero, isStale: Bool = false) -> Result<Reading<Int>, RepositoryError> {
        .success(Reading(1, origin: .memory, age: age, isStale: isStale))
    }

    @Test func freshCachedAnswerIsTheOnlyElement() async {
        let given = await given(kept: kept())
        #expect(given.values == [1] && given.asked == [.cacheOnly] && given.error == nil && given.extra == nil)
    }

    @Test func staleCachedAnswerIsFollowedByTheSource() async {
        let given = await given(kept: kept(isStale: true))
        #expect(given.values == [1, 2] && given.asked == [.cacheOnly, .upstreamOnly] && given.extra == nil)
    }

    @Test func cachedAnswerThatIsTooOldIsFollowedByTheSource() async {
        #expect(await given(kept: kept(age: .seconds(5)), notOlderThan: .seconds(5)).values == [1])
        #expect(await given(kept: kept(age: .seconds(6)), notOlderThan: .seconds(5)).values == [1, 2])
    }

    @Test func sourceIsTheOnlyElementWithoutACachedAnswer() async {
        let given = await given(kept: .failure(.example(.unavailable)))
        #expect(given.values == [2] && given.error == nil && given.extra == nil)
        #expect(await self.given(kept: .failure(.example(.notFound)), notOlderThan: .seconds(5)).values == [2])
    }

    @Test func sourceErrorFollowsTheCachedAnswer() async {
        let given = await given(kept: kept(isStale: true), upstream: .failure(.example(.denied)))
        #expect(given.values == [1] && given.error == .denied && given.extra == nil)
    }

    @Test func sourceIsNotReadAfterACancellation() async {
        let given = await given(kept: .failure(.example(.cancelled)))
        #expect(given.values.isEmpty && given.error == .cancelled && given.asked == [.cacheOnly] && given.extra == nil)
    }

    @Test func eachIteratorReadsAgain() async throws {
        let log = PolicyLog()
        let readings = Readings { policy throws(RepositoryError) in
            log.note(policy)
            return Reading(1, origin: .memory)
        }
        for _ in 0..<2 { for try await _ in readings {} }
        #expect(log.all == [.cacheOnly, .cacheOnly])
    }
}
