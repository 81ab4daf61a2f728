public import InwardFetching
import Synchronization

/// A data fetcher that answers by method and path, and records its requests.
///
///     let upstream = RoutedDataFetcher()
///         .on(.get, "/posts/:post/comments", .json(#"[{"id": 1, "body": "Well said."}]"#))
///         .on(.get, "/comments/1", .status(503), .json(#"{"id": 1, "body": "Well said."}"#))
///         .on(.delete, "/comments/:id") { request in
///             request["id"] == 1 ? .status(204) : .status(.notFound)
///         }
///     let comments = Repository(.comments, upstream: Upstream(baseURL: url, dataFetcher: upstream))
///     try await comments.delete(1)
///     #expect(upstream.requests(.delete, "/comments/:id").map(\.parameters) == [["id": "1"]])
///
/// A pattern is the whole path of the URL, on any host. A component that begins with a colon is a parameter, which matches any one
/// component. The query items in a pattern, as in `/comments?postId=:post&_page=2`, must be in the URL, in any order; the URL may
/// have others. If several routes match, the one that was added last answers, so a test can replace a route.
///
/// A request that matches no route fails with `FetchError.Reason.invalidRequest`, and the error names the routes.
public final class RoutedDataFetcher: DataFetcher {
    /// Returns the answer to a request.
    public typealias Handler = @Sendable (RoutedRequest) async throws(FetchError) -> FetchFixture

    private enum Answer {
        case fixture(FetchFixture)
        case handler(Handler)
    }

    private struct Route {
        let method: DataRequest.Method
        let pattern: String
        private let path: URLPattern
        private var answers: [Answer]

        init(_ method: DataRequest.Method, _ pattern: String, _ answers: [Answer] = []) {
            self.method = method
            self.pattern = pattern
            self.answers = answers
            path = URLPattern(pattern)
        }

        /// Returns a request with its parameters; `nil` if it is not for this route.
        func match(_ request: DataRequest) -> RoutedRequest? {
            guard request.method == method, let parameters = path.parameters(in: request.url) else { return nil }
            return RoutedRequest(request: request, parameters: parameters)
        }

        /// Returns the answer to the next request. The last one is repeated.
        mutating func next() -> Answer? { answers.count > 1 ? answers.removeFirst() : answers.first }
    }

    private struct State {
        var routes: [Route] = []
        var requests: [DataRequest] = []
        var isOffline = false

        /// Records a request, and returns its route's answer.
        mutating func receive(_ request: DataRequest) throws(FetchError) -> (Answer, RoutedRequest) {
            if isOffline {
                throw FetchError(.unreachable, request: request, explanation: "reached nobody", wasSent: false)
            }
            requests.append(request)
            for index in routes.indices.reversed() {
                guard let match = routes[index].match(request), let answer = routes[index].next() else { continue }
                return (answer, match)
            }
            let names = routes.map { "\($0.method) \($0.pattern)" }.joined(separator: ", ")
            throw FetchError(
                .invalidRequest,
                request: request,
                explanation: "has no route: \(names.isEmpty ? "add one with `on`" : "the routes are \(names)")"
            )
        }
    }

    private let state = Mutex(State())

    /// Creates a fetcher without routes.
    public init() {}

    /// The requests so far, in order, including those without a route.
    public var requests: [DataRequest] { state.withLock(\.requests) }

    /// Returns the requests so far with a method and a URL that matches a pattern, in order.
    ///
    ///     let edits = upstream.requests(.put, "/comments/:id")
    ///     #expect(edits.map { $0["id"] } == [7, 8])
    public func requests(_ method: DataRequest.Method, _ pattern: String) -> [RoutedRequest] {
        let route = Route(method, pattern)
        return requests.compactMap(route.match)
    }

    /// Adds a route with fixtures. Each request gets the next one. When only the last is left, all further requests get it.
    ///
    /// - Parameters:
    ///   - method: The method of the requests.
    ///   - pattern: The pattern of their URLs, such as `/posts/:post/comments`.
    ///   - first: The answer to the first request.
    ///   - others: The answers to the following requests.
    /// - Returns: This fetcher, to add another route.
    @discardableResult
    public func on(
        _ method: DataRequest.Method,
        _ pattern: String,
        _ first: FetchFixture,
        _ others: FetchFixture...
    ) -> Self {
        add(Route(method, pattern, ([first] + others).map(Answer.fixture)))
    }

    /// Adds a route with a handler, which may be called from several tasks at once.
    ///
    /// - Parameters:
    ///   - method: The method of the requests.
    ///   - pattern: The pattern of their URLs, such as `/posts/:post/comments`.
    ///   - handler: Returns the answer to a request.
    /// - Returns: This fetcher, to add another route.
    @discardableResult
    public func on(_ method: DataRequest.Method, _ pattern: String, _ handler: @escaping Handler) -> Self {
        add(Route(method, pattern, [.handler(handler)]))
    }

    private func add(_ route: Route) -> Self {
        state.withLock { $0.routes.append(route) }
        return self
    }

    /// Makes all requests fail as unreachable from now on, or answers them again. They are not sent, so they are not recorded.
    public func goOffline(_ isOffline: Bool = true) {
        state.withLock { $0.isOffline = isOffline }
    }

    /// Records a request and returns the response of its route.
    ///
    /// - Throws: A `FetchError` if the request has no route or its route says so, or if the task is cancelled.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard !Task.isCancelled else {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        }
        let (answer, match) = try state.withLock { state throws(FetchError) in try state.receive(request) }
        let fixture =
            switch answer {
            case .fixture(let fixture): fixture
            case .handler(let handler): try await handler(match)
            }
        return try fixture.response(to: request, failing: "failed as its route says")
    }
}
