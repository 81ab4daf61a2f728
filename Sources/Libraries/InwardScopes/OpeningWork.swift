/// The opening of a scope, as work of the scope: it cannot be cancelled, and closing the scope waits for its end.
struct OpeningWork: RunningWork {
    private let ending: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init() {
        (ending, report) = AsyncStream.makeStream()
    }

    /// Resumes the waiters.
    func finish() {
        report.finish()
    }

    func cancel() {}

    func end() async {
        for await _ in ending {}
    }
}
