import Foundation
import InwardFetching
import InwardFileStores

/// An upstream whose lists are JSON files.
///
/// The path `/users` is the file `users.json`. The path `/users/7` is the file `users/7.json`, or else the record with that
/// identity in `users.json`. Any other path is the file of that name.
struct StaticUpstream {
    /// The address to which the paths of the files are relative.
    let baseURL: URL

    /// Returns the answer to a request. `read` returns the file at a path, given as its components; `nil` if it does not exist.
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

    /// Returns the components of a request's path.
    ///
    /// - Throws: A `FetchError` if the address is not below the base address, or if the task was cancelled.
    func path(of request: DataRequest) throws(FetchError) -> [String] {
        guard !Task.isCancelled else {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: false)
        }
        guard let path = components(of: request.url) else {
            throw FetchError(.invalidRequest, request: request, explanation: "is outside what is served here")
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

    /// Returns the components of a path below the base address, each decoded once; `nil` if the address is not below it, or if
    /// a component is not a plain name.
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

/// A list of JSON records that can be queried as in JSONPlaceholder: by field, by identity, and by slice.
///
/// Elements that are not objects are part of the list and its slices, but match no field and no identity.
struct JSONList {
    private let elements: [Any]

    /// Reads a list; `nil` if the text is not a JSON list.
    init?(_ json: Data) {
        guard let elements = try? JSONSerialization.jsonObject(with: json) as? [Any] else { return nil }
        self.elements = elements
    }

    /// Returns the records that match every field of a query. `_start` and `_limit` select a slice of them.
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

    /// Returns a field of a record in the form that queries use: strings unchanged, other values as JSON.
    private static func text(of element: Any, field: String) -> String? {
        guard let value = (element as? [String: Any])?[field] else { return nil }
        return value as? String ?? String(decoding: json(value), as: UTF8.self)
    }

    private static func json(_ value: Any) -> Data {
        // Values read from JSON can be written as JSON.
        (try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])) ?? Data()
    }
}
