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

    /// How long a cache on the way has had it (RFC 9111 section 5.1).
    var age: Duration {
        response.headerFields[.age].flatMap(Int32.init).map { .seconds(max(0, $0)) } ?? .zero
    }

    /// Whether it may be kept: it is the upstream's own answer, which does not say that nobody may keep it.
    var mayBeKept: Bool {
        response.degradation == nil && response.headerFields.cacheDirectives["no-store"] == nil
    }

    /// What the answer says.
    ///
    /// - Throws: a `RepositoryError` if it cannot be understood.
    func decoded<Value>(by decode: (Data) throws(FieldError) -> Value) throws(RepositoryError) -> Value {
        do {
            return try decode(response.body)
        } catch {
            throw RepositoryError(unreadable: error, of: request)
        }
    }

    /// A reading of what it says.
    func reading<Value>(_ value: Value, rejected: [RejectedRecord] = []) -> Reading<Value> {
        Reading(
            value,
            origin: response.origin,
            age: age,
            rejected: rejected,
            degradation: response.degradation.map { RepositoryError($0, mayHaveWritten: false) }
        )
    }
}
