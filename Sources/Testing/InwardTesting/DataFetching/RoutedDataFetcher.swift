public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data fetcher that answers by method and path, and records its requests.
///
/// ```swift
/// let upstream = RoutedDataFetcher()
///     .on(.get, "/comments/7", .status(503), .json(#"{"id": 7, "postID": 1, "body": "Well said."}"#))
///     .on(.delete, "/comments/:id") { request in request["id"] == 7 ? .status(204) : .status(.notFound) }
///
/// let url = CommentClient.baseURL.appending(path: "comments/7")
/// _ = try await upstream.fetch(DataRequest(method: .delete, url: url))
/// #expect(upstream.requests(.delete, "/comments/:id").map(\.parameters) == [["id": "7"]])
/// ```
///
/// A pattern is the whole path of the URL, on any host. A component that begins with a colon is a parameter, which matches any
/// one component. The query items in a pattern, as in `/comments?postId=:post&_page=2`, must be in the URL, in any order; the
/// URL may have others. If several routes match, the one that was added last answers, so a test can replace a route.
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

        /// Returns the request with its parameters, or `nil` if the route does not match it.
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
                throw FetchError(
                    .unreachable,
                    request: request,
                    explanation: "was not sent, because the upstream is offline",
                    wasSent: false
                )
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
    /// ```swift
    /// let upstream = RoutedDataFetcher().on(.put, "/comments/:id", .status(204))
    /// let edits = upstream.requests(.put, "/comments/:id")
    /// #expect(edits.isEmpty)
    /// ```
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

    /// Makes all requests fail as unreachable from now on, or answers them again if the argument is `false`. Requests are not
    /// recorded while offline.
    public func goOffline(_ isOffline: Bool = true) {
        state.withLock { $0.isOffline = isOffline }
    }

    /// Records a request and returns the response of its route.
    ///
    /// - Throws: A `FetchError` if no route matches, if the route prescribes a failure, or if the task is cancelled.
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
        return try fixture.response(to: request, failing: "failed, as its route prescribes")
    }
}

/// A request to a ``RoutedDataFetcher``, with the parameters in its URL.
///
/// ```swift
/// let upstream = RoutedDataFetcher()
/// upstream.on(.put, "/posts/:post/comments/:id") { request throws(FetchError) in
///     let draft = try request.decoded(CommentDraft.self)
///     return .json(#"{"id": \#(request["id"] ?? 0), "postID": \#(draft.postID), "body": "\#(draft.body)"}"#)
/// }
/// ```
public struct RoutedRequest: Hashable, Sendable, CustomStringConvertible {
    /// The request as it was sent.
    public let request: DataRequest
    /// The values of the parameters in the route's pattern, by name, without percent-encoding.
    public let parameters: [String: String]

    /// The value of a parameter, or `nil` if the route has no such parameter or the value cannot be converted to the type.
    public subscript<Value: LosslessStringConvertible>(parameter: String) -> Value? {
        parameters[parameter].flatMap(Value.init)
    }

    /// Returns the value of the first query item with a name, without percent-encoding, or `nil` if there is none.
    public func query(_ name: String) -> String? {
        URLPattern.queryItems(of: request.url).first { $0.name == name }?.value
    }

    /// Decodes the body from JSON.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - decoder: The decoder, which determines the format of dates and keys.
    /// - Returns: The value.
    /// - Throws: A `FetchError`, with `FetchError.Reason.invalidRequest` if the body is missing or of another type.
    public func decoded<Value: Decodable>(
        _ type: Value.Type = Value.self,
        by decoder: JSONDecoder = JSONDecoder()
    ) throws(FetchError) -> Value {
        do {
            return try decoder.decode(type, from: request.body ?? Data())
        } catch {
            throw FetchError(
                .invalidRequest,
                request: request,
                explanation: "has a body that is not a \(type): \(error)"
            )
        }
    }

    /// The description of the request.
    public var description: String { request.description }
}

/// The pattern of a route's URLs, such as `/posts/:post/comments?page=2`.
struct URLPattern: Sendable {
    private enum Part: Sendable {
        case literal(String)
        case parameter(String)

        init(_ text: some StringProtocol) {
            self = text.hasPrefix(":") ? .parameter(String(text.dropFirst())) : .literal(String(text))
        }

        /// Returns whether a text matches, and stores it if this is a parameter. A parameter matches any text that is not
        /// empty.
        func matches(_ text: String, _ parameters: inout [String: String]) -> Bool {
            switch self {
            case .literal(let literal): return literal == text
            case .parameter(let name):
                parameters[name] = text
                return !text.isEmpty
            }
        }
    }

    private let path: [Part]
    private let query: [(name: String, value: Part)]

    init(_ text: String) {
        let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = halves.first ?? ""
        self.path = Self.components(path.hasPrefix("/") ? String(path) : "/\(path)").map { Part($0) }
        query = halves.dropFirst().joined().split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), Part(parts.dropFirst().joined()))
        }
    }

    /// Returns the parameters in a URL, or `nil` if the URL does not match.
    func parameters(in url: URL) -> [String: String]? {
        let path = url.path(percentEncoded: true)
        let components = Self.components(path.isEmpty ? "/" : path)
        guard components.count == self.path.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, component) in zip(self.path, components) {
            guard part.matches(Self.decoded(component), &parameters) else { return nil }
        }
        let items = query.isEmpty ? [] : Self.queryItems(of: url)
        for (name, value) in query {
            guard items.contains(where: { $0.name == name && value.matches($0.value ?? "", &parameters) }) else {
                return nil
            }
        }
        return parameters
    }

    private static func components(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Returns a component without percent-encoding. FoundationEssentials decodes whole paths only.
    private static func decoded(_ component: Substring) -> String {
        URLComponents(string: "/\(component)").map { String($0.path.dropFirst()) } ?? String(component)
    }

    static func queryItems(of url: URL) -> [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    }
}
