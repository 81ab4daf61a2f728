import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an upstream has answered to a read.
struct UpstreamAnswer {
    let request: DataRequest
    let response: DataResponse

    /// How long a cache on the way has had it (RFC 9111 section 5.1). What is no number of seconds, or too large a one, is as old
    /// as can be.
    var age: Duration {
        guard let field = response.headerFields[.age] else { return .zero }
        return .seconds(max(0, Int32(field) ?? .max))
    }

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
