import InwardFetching

/// An observer that says of each request that it waits for the answer to another one.
struct Joins: FetchObserver {
    private let continuation: AsyncStream<DataRequest>.Continuation
    private let requests: AsyncStream<DataRequest>

    init() {
        (requests, continuation) = AsyncStream.makeStream()
    }

    func joined(_ request: DataRequest) { continuation.yield(request) }

    /// Waits for so many.
    func next(_ count: Int) async {
        var iterator = requests.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }
}
