import InwardCore
import InwardFetching
import InwardRepositories
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The simulated processes of a ``RepositoryConformance``, which use one store, and the violations so far.
final class NoteStage: Sendable {
    let upstream = NoteUpstream()
    private let now: Date
    private let open: @Sendable () async throws -> any RecordStore
    private let found = Mutex<[String]>([])
    private let seeds = Mutex(SplitMix64(seed: 7))

    init(now: Date, open: @escaping @Sendable () async throws -> any RecordStore) {
        self.now = now
        self.open = open
    }

    /// The violations so far, in order.
    var violations: [String] { found.withLock(\.self) }

    /// Notes a violation.
    func note(_ violation: String) { found.withLock { $0.append(violation) } }

    /// Notes a violation if a condition does not hold.
    func require(_ condition: Bool, _ violation: @autoclosure () -> String) {
        if !condition { note(violation()) }
    }

    /// Runs a process of a user, which opens the store and closes its repository and its outbox when it ends.
    func process(
        of user: String = "ada",
        _ body: @Sendable (Repository<Note>, Outbox) async throws -> Void
    ) async throws {
        let failures = RecordingErrorHandler()
        let upstream = Upstream(baseURL: URL(filePath: "/"), dataFetcher: upstream)
        let records = try await open()
        let place = RepositoryStore(
            records,
            of: [user],
            at: upstream,
            now: { [now] in now },
            tellingFailuresTo: failures
        )
        let outbox = Outbox(
            upstream: upstream,
            store: records,
            prefix: place.outboxPrefix,
            now: { [now] in now },
            generator: SplitMix64(seed: seeds.withLock { $0.next() }),
            errorHandler: failures
        )
        let notes = Repository(.notes, upstream: upstream, store: place, outbox: outbox)
        do {
            try await outbox.open(handlers: [notes.handler].compactMap(\.self))
            try await body(notes, outbox)
        } catch {
            note("A repository must not fail, but did: \(error)")
        }
        await notes.close()
        await outbox.close()
        for error in failures.errors { note("A repository must not report failures, but did: \(error)") }
    }

    /// Makes the upstream reachable, and waits until all deliverable writes are delivered. An attempt that is already in flight
    /// still fails, and is retried after a pause.
    func deliver(_ outbox: Outbox) async {
        upstream.goOffline(false)
        outbox.retryNow()
        _ = await outbox.drain()
    }

    /// Notes a violation unless a read finds the expected text. `nil` means that the note must not be found.
    func expect(
        _ notes: Repository<Note>,
        _ id: Int,
        _ text: String?,
        _ name: String,
        isPending: Bool = false,
        policy: ReadPolicy = .cacheOnly
    ) async {
        let reading = try? await notes.entity(id, policy)
        let found = reading?.value.text
        guard found == text else {
            note("\(name) must be \(text ?? "missing"), but is \(found ?? "missing").")
            return
        }
        if let reading { require(reading.isPending == isPending, "\(name) must \(isPending ? "" : "not ")be pending.") }
    }

    /// Notes a violation if another process finds pending writes in the store.
    func expectNothingPending() async throws {
        try await process { [self] _, outbox in
            let count = try await outbox.contents().pending.count
            require(count == 0, "Delivered writes must not be pending after a restart, but \(count) are.")
        }
    }
}

/// An upstream of notes, which can be unreachable.
final class NoteUpstream: DataFetcher {
    private struct State {
        var texts = [1: "first", 2: "second", 3: "third"]
        var isOffline = false
        var writes: [String] = []
    }

    private let state = Mutex(State())

    /// The processed writes, such as `PATCH 1 text`.
    var writes: [String] { state.withLock(\.writes) }

    func text(at id: Int) -> String? { state.withLock { $0.texts[id] } }

    func put(_ text: String, at id: Int) { state.withLock { $0.texts[id] = text } }

    func goOffline(_ isOffline: Bool = true) { state.withLock { $0.isOffline = isOffline } }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let id = Int(request.url.lastPathComponent)
        let text = request.body.flatMap { try? JSONDecoder().decode(NoteDraft.self, from: $0) }?.text
        let answer = state.withLock { state -> DataResponse? in
            if state.isOffline { return nil }
            switch (request.method, id) {
            case (.get, nil):
                let notes = state.texts.map { NoteDTO(Note(id: $0.key, text: $0.value)) }
                return Self.answer(notes.sorted { $0.id < $1.id })
            case (.post, nil):
                let id = (state.texts.keys.max() ?? 0) + 1
                state.texts[id] = text
                state.writes.append("POST \(text ?? "")")
                return Self.answer(NoteDTO(Note(id: id, text: text ?? "")))
            case (.get, _?): break
            case (.delete, let id?):
                state.texts[id] = nil
                state.writes.append("DELETE \(id)")
                return DataResponse(status: 204)
            case (_, let id?):
                state.texts[id] = text
                state.writes.append("\(request.method) \(id) \(text ?? "")")
            case (_, nil): return DataResponse(status: 405)
            }
            guard let id, let text = state.texts[id] else { return DataResponse(status: .notFound) }
            return Self.answer(NoteDTO(Note(id: id, text: text)))
        }
        if let answer { return answer }
        throw FetchError(.unreachable, request: request, explanation: "was sent while the upstream was offline")
    }

    private static func answer(_ value: some Encodable) -> DataResponse {
        DataResponse(body: (try? JSONEncoder().encode(value)) ?? Data())
    }
}

/// The entity of a ``RepositoryConformance``.
struct Note: Identifiable, Sendable {
    let id: Int
    var text: String
}

/// The body of a request that creates or changes a note.
struct NoteDraft: Codable, Sendable {
    let text: String
}

/// A note as the upstream sends it.
struct NoteDTO: RecordDTO {
    static let listName = "notes"
    let id: Int
    let text: String

    init(_ note: Note) { (id, text) = (note.id, note.text) }

    func entity() throws(FieldError) -> Note { Note(id: id, text: text) }
}

extension Endpoint where Entity == Note {
    static let notes = Endpoint(
        NoteDTO.self,
        at: "notes",
        creation: Creation(
            NoteDraft.self,
            answer: NoteDTO.self,
            pending: { draft, number in Note(id: -1 - number, text: draft.text) },
            created: { draft, answer throws(FieldError) in Note(id: answer.id, text: draft.text) }
        ),
        editing: Editing(.patch)
    )
}
