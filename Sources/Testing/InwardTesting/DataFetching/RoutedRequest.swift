public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request to a ``RoutedDataFetcher``, with the parameters in its URL.
///
///     upstream.on(.put, "/posts/:post/comments/:id") { request throws(FetchError) in
///         let draft = try request.decoded(CommentDraft.self)
///         return .json(#"{"id": \#(request["id"] ?? 0), "body": "\#(draft.body)"}"#)
///     }
public struct RoutedRequest: Hashable, Sendable, CustomStringConvertible {
    /// The request as it was sent.
    public let request: DataRequest
    /// The values of the parameters in the route's pattern, by name, without percent-encoding.
    public let parameters: [String: String]

    /// The value of a parameter; `nil` if the route has no such parameter, or its value is not of the wanted type.
    public subscript<Value: LosslessStringConvertible>(parameter: String) -> Value? {
        parameters[parameter].flatMap(Value.init)
    }

    /// Returns the value of the first query item with a name, without percent-encoding; `nil` if there is none.
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

        /// Returns whether a text matches, and notes it if this is a parameter, which matches any text but an empty one.
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

    /// Returns the parameters in a URL; `nil` if it does not match.
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
