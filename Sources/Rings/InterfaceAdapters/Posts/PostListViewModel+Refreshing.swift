extension PostListViewModel {
    /// Loads the posts, and refreshes them again and again until the task is cancelled, or the list is found closed.
    ///
    /// - Parameters:
    ///   - interval: How long it waits behind each answer, or failure.
    ///   - clock: What it waits by.
    /// - Throws: what to show if the list is closed.
    public func keepRefreshing(every interval: Duration, on clock: any Clock<Duration>) async throws(FailureViewModel) {
        try await send(.load)
        while (try? await clock.sleep(for: interval)) != nil {
            try await send(.refresh)
        }
    }
}
