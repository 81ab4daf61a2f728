import Foundation
import InwardFetching
import InwardRepositories
import InwardTesting
import Synchronization

/// An entity of the service under test.
struct Note: Identifiable, Hashable, Sendable {
    let id: Int
    var text: String
}

struct NoteDTO: RecordDTO {
    static let listName = "notes"
    let id: Int
    let text: String

    init(_ note: Note) { (id, text) = (note.id, note.text) }

    func entity() throws(FieldError) -> Note { Note(id: id, text: text) }
}

struct NoteDraft: Codable, Sendable {
    let text: String
}

extension Endpoint where Entity == Note {
    /// Notes that a session can read and write.
    static let notes = Endpoint(
        NoteDTO.self,
        at: "notes",
        creation: Creation(NoteDraft.self, answer: NoteDTO.self) { draft, number in
            Note(id: -1 - number, text: draft.text)
        },
        editing: Editing(.put)
    )

    /// Notes that a session can only read.
    static let archive = Endpoint(NoteDTO.self, at: "archive")
    /// Notes for everyone.
    static let board = Endpoint(NoteDTO.self, at: "board", audience: .everyone)
}

/// An upstream with notes. A test can take it offline, or make it reject tokens.
final class NoteUpstream: DataFetcher {
    private struct State {
        var texts = [7: "Seven"]
        var requests: [DataRequest] = []
        var isOffline = false
        var rejected: Set<String> = []
    }

    private let state = Mutex(State())

    var requests: [DataRequest] { state.withLock(\.requests) }

    /// The `Authorization` fields of the requests, in order, with `nil` for a request without one.
    var tokens: [String?] { requests.map { $0.headerFields[.authorization] } }

    /// Changes note 7 at the upstream.
    func put(_ text: String) { state.withLock { $0.texts[7] = text } }

    func goOffline(_ isOffline: Bool = true) { state.withLock { $0.isOffline = isOffline } }

    func reject(_ token: String) { state.withLock { _ = $0.rejected.insert("Bearer \(token)") } }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try state.withLock { state throws(FetchError) in
            if state.isOffline {
                throw FetchError(.unreachable, request: request, explanation: "is offline", wasSent: false)
            }
            state.requests.append(request)
            if let token = request.headerFields[.authorization], state.rejected.contains(token) {
                return DataResponse(status: .unauthorized)
            }
            let id = Int(request.url.lastPathComponent) ?? (request.method == .post ? 100 + state.texts.count : 7)
            if let body = request.body, let sent = try? JSONDecoder().decode(NoteDraft.self, from: body) {
                state.texts[id] = sent.text
            }
            guard let text = state.texts[id] else { return DataResponse(status: .notFound) }
            return DataResponse(body: Data(#"{"id": \#(id), "text": "\#(text)"}"#.utf8))
        }
    }
}
