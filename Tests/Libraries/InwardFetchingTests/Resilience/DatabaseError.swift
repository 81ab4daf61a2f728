import InwardFetching

/// An error of an operation that is not a data fetcher.
enum DatabaseError: Error, Hashable {
    case busy
    case notFound
    case unavailable(ResilienceError)

    /// The error of a decorator, if there is one.
    var resilience: ResilienceError? {
        if case .unavailable(let error) = self { error } else { nil }
    }
}

typealias Query = ResilientOperation<Int, String, DatabaseError>

extension ResilientOperation where Failure == DatabaseError {
    /// Creates an operation named `the lookup`.
    init(_ operation: @escaping @Sendable (Input) async throws(DatabaseError) -> Output) {
        self.init("the lookup", failure: DatabaseError.unavailable, operation: operation)
    }

    /// Returns the outcome of a call.
    func result(_ input: Input) async -> Result<Output, DatabaseError> {
        do throws(DatabaseError) { return .success(try await self(input)) } catch { return .failure(error) }
    }
}
