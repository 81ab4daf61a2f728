import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an upstream has answered to a read.
struct UpstreamAnswer {
    let request: DataRequest
    let response: DataResponse

    /// How long it took from the request to the answer.
    var delay = Duration.zero

    /// Whether the answer was kept on the way, and so may be from before the request.
    var isCopy: Bool { response.origin != .upstream || response.headerFields[.age] != nil }

    /// How long before the request the answer was made, by what caches on the way say (RFC 9111 section 5.1).
    var ageAtRequest: Duration { response.headerFields.ageValue ?? .zero }

    /// How old the answer is (RFC 9111 section 4.2.3). Nobody knows when a copy was taken, so all of its way counts. An answer at
    /// first hand was made for the request, and is not old however long it took.
    var age: Duration { response.headerFields.ageValue.map { $0 + delay } ?? .zero }

    /// Whether it may be kept: it is the upstream's own answer, which does not say that nobody may keep it.
    var mayBeKept: Bool {
        response.degradation == nil && response.headerFields.cacheDirectives["no-store"] == nil
    }

    /// What the answer says.
    ///
    /// - Throws: a `RepositoryError` if it is none of success, or cannot be understood.
    func decoded<Value>(by decode: (Data) throws(FieldError) -> Value) throws(RepositoryError) -> Value {
        guard response.status.isSuccess else {
            throw RepositoryError(FetchError(response, to: request), mayHaveWritten: false)
        }
        do {
            return try decode(response.body)
        } catch {
            throw RepositoryError(unreadable: error, of: request)
        }
    }

    /// A reading of what it says, which is stale if a cache on the way has had it for longer than answers are fresh.
    func reading<Value>(
        _ value: Value,
        fresh: Duration,
        rejected: [RejectedRecord] = []
    ) -> Reading<Value> {
        Reading(
            value,
            origin: response.origin,
            age: age,
            isStale: age > .zero && age >= fresh,
            rejected: rejected,
            degradation: response.degradation.map { RepositoryError($0, mayHaveWritten: false) }
        )
    }
}
