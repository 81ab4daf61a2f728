/// The port through which the repositories get bytes: whoever implements it answers a request.
///
/// An answer is whatever the source answers, with whatever status: a fetcher throws only when there is no whole answer to
/// give. Part of a body is never given for the whole. The request is sent with its header fields as they are, and every
/// wait ends with ``FetchError/Reason/cancelled`` when the task that asked is cancelled. A fetcher is used from many tasks
/// at once.
///
/// Check an implementation with `DataFetcherConformance` of the product `InwardTesting`.
public protocol DataFetcher: Sendable {
    /// The answer to a request.
    ///
    /// - Throws: a ``FetchError`` if there is no whole answer.
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse

    /// Whether the fetcher looks at the deadline of the task itself, and ends each fetch with
    /// ``FetchError/Reason/timedOut`` when it passes; `false` unless it says so.
    ///
    /// Who does spares whoever bounds it a task and a timer. `false` is always right.
    var honorsDeadlines: Bool { get }
}

extension DataFetcher {
    /// Nothing is promised.
    public var honorsDeadlines: Bool { false }
}
