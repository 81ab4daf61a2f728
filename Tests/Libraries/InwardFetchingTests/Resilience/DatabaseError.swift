import InwardFetching

/// An error of something that is no data fetcher.
enum DatabaseError: Error, Hashable {
    case busy
    case notFound
    case unavailable(ResilienceError)

    /// The decorator's error that it was made of.
    var resilience: ResilienceError? {
        if case .unavailable(let error) = self { error } else { nil }
    }
}

typealias Query = ResilientOperation<Int, String, DatabaseError>

extension ResilientOperation where Failure == DatabaseError {
    /// An operation called `the look-up`.
    init(_ operation: @escaping @Sendable (Input) async throws(DatabaseError) -> Output) {
        self.init("the look-up", failure: DatabaseError.unavailable, operation: operation)
    }

    /// The outcome of a call.
    func result(_ input: Input) async -> Result<Output, DatabaseError> {
        do throws(DatabaseError) { return .success(try await self(input)) } catch { return .failure(error) }
    }
}
