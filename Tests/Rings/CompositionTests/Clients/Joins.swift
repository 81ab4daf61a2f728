import InwardFetching

/// An observer that reports each request that joins another one in flight.
struct Joins: FetchObserver {
    private let continuation: AsyncStream<DataRequest>.Continuation
    private let requests: AsyncStream<DataRequest>

    init() {
        (requests, continuation) = AsyncStream.makeStream()
    }

    func joined(_ request: DataRequest) { continuation.yield(request) }

    /// Waits until `count` more requests have joined.
    func next(_ count: Int) async {
        var iterator = requests.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }
}
