import Foundation
import InwardCore
import InwardFetching
import InwardFileStores
import InwardRepositories
import InwardScopes
import InwardURLSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A note of the test's upstream.
struct Note: Identifiable, Sendable {
    let id: Int
    var title: String
}

/// A note in the upstream's format.
private struct NoteDTO: RecordDTO {
    static let listName = "notes"

    let id: Int
    let title: String

    init(_ note: Note) { (id, title) = (note.id, note.title) }

    func entity() throws(FieldError) -> Note { Note(id: id, title: title) }
}

private struct NoteDraft: Codable {
    let title: String
}

private struct CreatedNote: Decodable {
    let id: Int
}

extension Endpoint<Note> {
    /// The notes of the upstream. Only the test writes them, so a conflict means that a write was done twice.
    fileprivate static var notes: Self {
        Self(
            NoteDTO.self,
            at: "notes",
            creation: Creation(NoteDraft.self, answer: CreatedNote.self) { draft, number in
                Note(id: -1 - number, title: draft.title)
            } created: { draft, answer throws(FieldError) in
                Note(id: answer.id, title: draft.title)
            },
            editing: Editing(.patch, onConflict: .ask)
        )
    }
}

/// A process that creates, updates and deletes notes, and delivers accepted writes of this and earlier runs, until it is
/// killed.
struct EditingRun: Codable, Sendable {
    /// What kills the process.
    enum End: Codable {
        /// It kills itself when it has reported this many accepted writes.
        case said(Int)
        /// It kills itself when it has changed the files of its store this many times.
        case changes(Int)
        /// The upstream kills it.
        case asked
        /// It kills itself when everything is delivered. In the other cases, it does so too if everything is delivered first.
        case delivered
    }

    /// An error for writes that the upstream has not answered.
    struct UndeliveredWrites: Error {}

    /// The maximum number of notes that a run creates.
    static let noteLimit = 3
    /// The last line that a run reports.
    static let lastWord = "delivered"
    /// The number of accepted writes that a run reports for each note that it creates.
    static let writesPerNote = 4

    let directory: URL
    let upstream: URL
    /// The number of the run, with which the titles of its notes begin.
    let round: Int
    let noteCount: Int
    let end: End

    /// The store, which all runs share.
    var store: URL { directory.appending(path: "store", directoryHint: .isDirectory) }

    private var words: URL { directory.appending(path: "said-\(round)") }
    private var identifier: URL { directory.appending(path: "process-\(round)") }

    /// The complete lines that the process has reported: the titles of accepted writes. An incomplete last line does not count.
    var said: [String] {
        let text = (try? String(contentsOf: words, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Kills the process immediately.
    func kill() {
        guard let text = try? String(contentsOf: identifier, encoding: .utf8), let process = pid_t(text) else { return }
        KillSwitch(process).press()
    }

    /// Opens the session that all runs share.
    func openSession() async throws -> (app: AppScope<Void>, session: SessionScope<Void>) {
        let app = await AppScope(
            "notes",
            AppScopeConfiguration(
                Upstream(baseURL: upstream, dataFetcher: URLSessionDataFetcher().timingOut(after: .seconds(30))),
                store: FileRecordStore(directory: store),
                endpoints: [AnyEndpoint(.notes)]
            )
        )
        return (app, try await app.signIn(as: "ada"))
    }

    /// Delivers all pending writes.
    ///
    /// - Throws: ``UndeliveredWrites`` if some are still pending after ten minutes.
    static func deliverEverything(in session: SessionScope<Void>) async throws {
        let end = ContinuousClock.now + .seconds(600)
        // Returns early if nothing is due within the time.
        while try await session.deliver(within: .seconds(30)) > 0 {
            guard ContinuousClock.now < end else { throw UndeliveredWrites() }
        }
    }

    /// Performs the run in the current process, and kills the process at the end.
    func perform() async throws {
        try Data("\(getpid())".utf8).write(to: identifier)
        try Data().write(to: words)
        let output = try FileHandle(forWritingTo: words)
        if case .changes(let count) = end {
            let watch = try FileWatch(store)
            Thread.detachNewThread {
                watch.wait(for: count)
                KillSwitch(getpid()).press()
            }
        }
        let session = try await openSession().session
        let notes = try session.repository(.notes)
        for number in 0..<noteCount {
            let name = "\(round)-\(number)"
            // Edit a new note, a note that earlier runs have updated, and a note that no run has touched.
            let (new, old) = (try await notes.create(NoteDraft(title: name)).value.id, number % Self.noteLimit + 1)
            try say(name, output)
            for (id, label) in [(new, "\(name)@new"), (old, "\(name)@\(old)")] {
                try await notes.update(id) { $0.title = label }
                try say(label, output)
            }
            let isNew = (round + number).isMultiple(of: 2)
            let untouched = 1_000_000 + round * Self.noteLimit + number
            try await notes.delete(isNew ? new : untouched)
            try say("DELETE /notes/\(isNew ? name : String(untouched))", output)
        }
        try await Self.deliverEverything(in: session)
        try say(Self.lastWord, output)
        KillSwitch(getpid()).press()
    }

    /// Reports an accepted write, and kills the process if it has reported enough. The report survives the process.
    private func say(_ word: String, _ output: FileHandle) throws {
        try output.write(contentsOf: Data("\(word)\n".utf8))
        if case .said(let count) = end, said.count >= count { KillSwitch(getpid()).press() }
    }
}
