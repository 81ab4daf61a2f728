import Foundation
import InwardFetching
import Synchronization

/// The records of the built-in sample, with the writes that it has accepted.
final class SampleRecords: Sendable {
    private struct Entry {
        let id: Int
        /// The record as JSON.
        let text: Data
    }

    private struct State {
        /// The lists that were used so far, by their names.
        var lists: [String: [Entry]] = [:]
        /// How often each record was written, by its path.
        var versions: [String: Int] = [:]
        /// The last identity in each list. An identity is not used again after its record was deleted.
        var lastIDs: [String: Int] = [:]

        /// Makes a list when it is first used, because making all of them takes longer than starting the program.
        mutating func load(_ name: String) {
            guard lists[name] == nil, let entries = SampleRecords.entries(in: name) else { return }
            lists[name] = entries
            lastIDs[name] = entries.map(\.id).max() ?? 0
        }
    }

    private typealias Record = [String: Any]

    private static let maximumCount = 1_000
    private static let json = HeaderField(.contentType, "application/json; charset=utf-8")
    private let state = Mutex(State())

    /// Returns the JSON text of a list, such as `posts`.
    func list(_ name: String) -> Data? {
        let entries = state.withLock { state in
            state.load(name)
            return state.lists[name]
        }
        return entries.map { Data("[".utf8) + $0.map(\.text).joined(separator: Data(",".utf8)) + Data("]".utf8) }
    }

    /// Returns the answer to a request for a record or a change, or `nil` if it is for something else.
    func answer(to request: DataRequest, at path: [String]) -> DataResponse? {
        state.withLock { state in
            for part in path { state.load(part) }
            switch (request.method, path.count) {
            case (.post, 1) where ["posts", "comments"].contains(path[0]):
                return Self.create(request.body, in: path[0], &state)
            case (.post, 3) where path[0] == "posts" && path[2] == "comments":
                guard let post = Int(path[1]), Self.record(post, in: "posts", state) != nil else {
                    return Self.notFound
                }
                return Self.create(request.body, in: "comments", adding: ["postId": post], &state)
            case (.get, 2), (.head, 2), (.put, 2), (.patch, 2), (.delete, 2):
                guard state.lists[path[0]] != nil else { return nil }
                guard let id = Int(path[1]), let record = Self.record(id, in: path[0], state) else {
                    return Self.notFound
                }
                return Self.answer(request, about: record, id, in: path[0], &state)
            default: return nil
            }
        }
    }

    private static func answer(
        _ request: DataRequest,
        about record: Record,
        _ id: Int,
        in list: String,
        _ state: inout State
    ) -> DataResponse {
        let tag = tag(of: id, in: list, state)
        guard ![.get, .head].contains(request.method) else {
            guard !tag.matches(ifNoneMatch: request.headerFields.values(of: .ifNoneMatch)) else {
                return DataResponse(status: .notModified, headerFields: [HeaderField(.etag, tag.description)])
            }
            return response(.ok, request.method == .head ? nil : record, tag)
        }
        let expected = request.headerFields.values(of: .ifMatch)
        guard expected.isEmpty || tag.matches(ifMatch: expected) else { return response(412, record, tag) }
        if request.method == .delete {
            state.lists[list]?.removeAll { $0.id == id }
            return response(.ok, [:])
        }
        guard var new = object(request.body) else { return malformed }
        if request.method == .patch { new = record.merging(new) { $1 } }
        new["id"] = id
        state.versions["\(list)/\(id)", default: 1] += 1
        state.lists[list] = state.lists[list]?.map { $0.id == id ? Entry(id: id, text: data(new)) : $0 }
        return response(.ok, new, self.tag(of: id, in: list, state))
    }

    private static func create(
        _ body: Data?,
        in list: String,
        adding parent: Record = [:],
        _ state: inout State
    ) -> DataResponse {
        guard var record = object(body)?.merging(parent, uniquingKeysWith: { $1 }) else { return malformed }
        guard let entries = state.lists[list], entries.count < maximumCount else {
            return response(507, ["error": "The sample has room for \(maximumCount) records in a list."])
        }
        let id = (state.lastIDs[list] ?? 0) + 1
        state.lastIDs[list] = id
        record["id"] = id
        state.lists[list] = entries + [Entry(id: id, text: data(record))]
        var answer = response(.created, record, tag(of: id, in: list, state))
        answer.headerFields.append(HeaderField(.location, "/\(list)/\(id)"))
        return answer
    }

    // MARK: Lists

    /// Returns the initial records of a list, or `nil` if no list has that name.
    private static func entries(in list: String) -> [Entry]? {
        switch list {
        case "users": entries(Data(PackageResources.users_json))
        case "posts": entries(Data(PackageResources.posts_json))
        case "comments": entries(Data(PackageResources.posts_json)).flatMap { comments(on: $0.id) }
        default: nil
        }
    }

    private static func entries(_ list: Data) -> [Entry] {
        let records = try? JSONSerialization.jsonObject(with: list) as? [Record]
        return records?.compactMap { record in (record["id"] as? Int).map { Entry(id: $0, text: data(record)) } } ?? []
    }

    private static func record(_ id: Int, in list: String, _ state: State) -> Record? {
        state.lists[list]?.first { $0.id == id }.flatMap { object($0.text) }
    }

    private static func tag(of id: Int, in list: String, _ state: State) -> EntityTag {
        EntityTag(digest: "\(id)-\(state.versions["\(list)/\(id)"] ?? 1)".utf8)
    }

    /// Two comments on a post, by its readers.
    private static func comments(on post: Int) -> [Entry] {
        let texts = [
            "I read this twice. Thank you for writing it down.", "Is there more where this came from?",
            "We had the same thing last winter.", "My neighbor says the opposite, and she is usually right.",
            "Saved for a quiet evening.",
        ]
        return [post * 2 - 1, post * 2].map { id in
            let reader = id % 7 + 1
            let record: Record = [
                "postId": post, "id": id, "name": "Reader \(reader)", "email": "reader\(reader)@example.org",
                "body": texts[id % texts.count],
            ]
            return Entry(id: id, text: data(record))
        }
    }

    // MARK: Answers

    private static let notFound = response(.notFound, [:])
    private static let malformed = response(400, ["error": "The body is not a JSON object."])

    private static func response(_ status: DataResponse.Status, _ record: Record?, _ tag: EntityTag? = nil)
        -> DataResponse
    {
        var fields: HeaderFields = [json]
        if let tag { fields.append(HeaderField(.etag, tag.description)) }
        return DataResponse(status: status, headerFields: fields, body: record.map(data) ?? Data())
    }

    private static func object(_ body: Data?) -> Record? {
        body.flatMap { try? JSONSerialization.jsonObject(with: $0) as? Record }
    }

    private static func data(_ value: Any) -> Data {
        // Values read from JSON can be written as JSON.
        (try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])) ?? Data()
    }
}
