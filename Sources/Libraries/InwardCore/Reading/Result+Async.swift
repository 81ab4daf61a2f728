extension Result where Success: Sendable {
    /// Runs a piece of asynchronous work and keeps how it ended, with the type of its error.
    ///
    /// For `async let`, which forgets the type of an error: two pieces of work run at once and each is asked for its
    /// result.
    @inlinable
    package init(awaiting work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
