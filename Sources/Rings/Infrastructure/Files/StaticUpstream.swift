import Foundation
import InwardFetching
import InwardFileStores

/// Answers requests as an upstream does whose lists are JSON files: `/users` is the file `users.json`, `/users/7` is
/// `users/7.json` or that record of `users.json`, and anything else is the file of its name.
struct StaticUpstream {
    /// The address that the files are served below.
    let baseURL: URL

    /// The answer to a request, from the files that `read` gives by the components of their paths, or `nil` for.
    func answer(
        to request: DataRequest,
        read: ([String]) throws(FetchError) -> Data?
    ) throws(FetchError) -> DataResponse {
        let path = try path(of: request)
        guard [.get, .head].contains(request.method) else {
            return DataResponse(status: .methodNotAllowed, headerFields: [HeaderField(.allow, "GET, HEAD")])
        }
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        let (body, type) = try content(at: path, query: query, read: read) ?? (nil, Self.json)
        return DataResponse(
            status: body == nil ? .notFound : .ok,
            headerFields: [
                HeaderField(.contentType, type), HeaderField(.contentLength, String((body ?? Self.nothing).count)),
            ],
            body: request.method == .head ? Data() : body ?? Self.nothing
        )
    }

    /// The components of the path that a request asks for.
    ///
    /// - Throws: a `FetchError` if the request leads elsewhere or was cancelled.
    func path(of request: DataRequest) throws(FetchError) -> [String] {
        guard !Task.isCancelled else {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        }
        guard let path = components(of: request.url) else {
            throw FetchError(.invalidRequest, request: request, explanation: "leads outside of what is served here")
        }
        return path
    }

    private func content(
        at path: [String],
        query: [URLQueryItem],
        read: ([String]) throws(FetchError) -> Data?
    ) throws(FetchError) -> (Data?, String)? {
        guard let name = path.last else { return nil }
        let parent = Array(path.dropLast())
        if let file = try read(parent + ["\(name).json"]) {
            return (query.isEmpty ? file : JSONList(file)?.matching(query) ?? file, Self.json)
        }
        if let file = try read(path) {
            return (file, Self.mediaType(of: name))
        }
        if let listName = parent.last, let file = try read(parent.dropLast() + ["\(listName).json"]) {
            return (JSONList(file)?.record(id: name), Self.json)
        }
        return nil
    }

    /// The components of a path below the base, each decoded once; `nil` if the address is not below it, or if a component
    /// is more than a name.
    private func components(of url: URL) -> [String]? {
        guard url.scheme?.lowercased() == baseURL.scheme?.lowercased(), url.host() == baseURL.host(),
            url.port == baseURL.port
        else { return nil }
        let base = baseURL.path(percentEncoded: true).split(separator: "/")
        let path = url.path(percentEncoded: true).split(separator: "/")
        guard path.starts(with: base) else { return nil }
        var names: [String] = []
        for component in path.dropFirst(base.count) {
            guard let name = component.removingPercentEncoding, name.isPathComponent else { return nil }
            names.append(name)
        }
        return names
    }

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last?.lowercased() {
        case "json": json
        case "jpg", "jpeg": "image/jpeg"
        case "png": "image/png"
        case "webp": "image/webp"
        case "html": "text/html; charset=utf-8"
        case "txt": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }

    private static let json = "application/json; charset=utf-8"
    private static let nothing = Data("{}".utf8)
}

/// A list of JSON records that can be asked as JSONPlaceholder is: by any field, by identity, and for a part.
///
/// Elements that are no objects belong to the whole list and match no question.
struct JSONList {
    private let elements: [Any]

    /// Reads a list; `nil` if the text is not a JSON list.
    init?(_ json: Data) {
        guard let elements = try? JSONSerialization.jsonObject(with: json) as? [Any] else { return nil }
        self.elements = elements
    }

    /// The records that every field named in a query is equal for. `_start` and `_limit` take a part of them.
    func matching(_ query: [URLQueryItem]) -> Data {
        let fields = query.filter { !["_start", "_limit"].contains($0.name) }
        let matches = elements.filter { element in
            fields.allSatisfy { field in Self.text(of: element, field: field.name) == field.value }
        }
        let start = Self.number("_start", in: query) ?? 0
        let limit = Self.number("_limit", in: query) ?? matches.count
        return Self.json(Array(matches.dropFirst(start).prefix(limit)))
    }

    /// Returns the first record with an identity; `nil` if no record has it.
    func record(id: String) -> Data? {
        elements.first { Self.text(of: $0, field: "id") == id }.map(Self.json)
    }

    private static func number(_ name: String, in query: [URLQueryItem]) -> Int? {
        query.first { $0.name == name }?.value.flatMap { Int($0) }.map { max(0, $0) }
    }

    /// A field of a record as a query would write it: a text as it is, anything else as JSON.
    private static func text(of element: Any, field: String) -> String? {
        guard let value = (element as? [String: Any])?[field] else { return nil }
        return value as? String ?? String(decoding: json(value), as: UTF8.self)
    }

    private static func json(_ value: Any) -> Data {
        // What was read from JSON can be written as JSON.
        (try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])) ?? Data()
    }
}
