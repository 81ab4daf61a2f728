import LoopbackServer
import Synchronization

/// An upstream of one user and of notes that honors idempotency keys and entity tags, and keeps a journal of the writes it
/// received. It can run a closure at a request, for example to kill the client.
///
/// A slow upstream performs each write, but takes longer than the client waits. The first attempt gets no answer, the second
/// one a 409 because the work is in progress, and only the third one the result. Posts with ``refusedSuffix`` get a 422
/// immediately.
final class JournalingUpstream: Sendable {
    /// The suffix of the titles of posts that the upstream refuses.
    static let refusedSuffix = "-refused"

    private struct Answer {
        var status = 200
        var headerLines: [String] = []
        var body: [UInt8] = []
    }

    private struct State {
        var journal: [JournaledWrite] = []
        var done: [JournaledWrite] = []
        var answers: [String: Answer] = [:]
        /// The number of attempts of each write, by key.
        var arrivals: [String: Int] = [:]
        var trap: (request: Int, stage: CrashInstant.Stage, spring: @Sendable () -> Void)?
        /// The titles of created posts and notes, by identity.
        var created: [Int: String] = [:]
        /// The titles of updated notes, and `nil` for deleted ones.
        var titles: [Int: String?] = [:]
    }

    private static let user = """
        {"id": 7, "name": "Ada Lovelace", "username": "ada", "email": "ada@example.org",
         "address": {"street": "St James's Square", "suite": "12", "city": "London", "zipcode": "SW1Y",
                     "geo": {"lat": "51.5", "lng": "-0.1"}},
         "phone": "555-0100", "website": "example.org",
         "company": {"name": "Analytical Engines", "catchPhrase": "It weaves", "bs": "numbers"}}
        """

    private let state = Mutex(State())
    private let isSlow: Bool

    init(isSlow: Bool = false) {
        self.isSlow = isSlow
    }

    /// All writes received, in order.
    var journal: [JournaledWrite] { state.withLock(\.journal) }

    /// All writes done, in order. Of several writes with one key, only the first is done.
    var done: [JournaledWrite] { state.withLock(\.done) }

    /// Calls a closure at the request with this number, counted from now and starting at 1. Replaces an earlier trap.
    func setTrap(at request: Int, _ stage: CrashInstant.Stage, spring: @escaping @Sendable () -> Void) {
        state.withLock { $0.trap = (request, stage, spring) }
    }

    /// Removes the trap.
    func clearTrap() {
        state.withLock { $0.trap = nil }
    }

    /// Returns the answer to a request.
    func answer(_ request: LoopbackRequest) -> LoopbackAnswer {
        let isWrite = request.method != "GET"
        let (write, trap) = state.withLock { state in
            let write = Self.write(request, state)
            if isWrite { state.journal.append(write) }
            state.trap?.request -= 1
            guard let trap = state.trap, trap.request == 0 else {
                return (write, nil as (stage: CrashInstant.Stage, spring: @Sendable () -> Void)?)
            }
            state.trap = nil
            return (write, (trap.stage, trap.spring))
        }
        if let trap, trap.stage == .arrived {
            trap.spring()
            return .raw([])
        }
        if isWrite, let refusal = refusal(of: write, request) {
            trap?.spring()
            return refusal
        }
        let answer = isWrite ? perform(write, request) : state.withLock { Self.read(request.target, $0) }
        let whole = LoopbackAnswer.whole(
            status: answer.status,
            headerLines: answer.headerLines,
            body: answer.body
        )
        switch trap?.stage {
        case nil, .arrived: return whole
        case .done:
            trap?.spring()
            return whole
        case .halfAnswered:
            let count = answer.body.count
            let head = Array("HTTP/1.1 \(answer.status) Done\r\nContent-Length: \(count)\r\n\r\n".utf8)
            return .followed(.raw(head + answer.body.prefix(count / 2))) { trap?.spring() }
        case .answered:
            return .followed(whole) { trap?.spring() }
        }
    }

    /// Returns the write of a request. It names created notes by title, which the client knows before their identity.
    private static func write(_ request: LoopbackRequest, _ state: State) -> JournaledWrite {
        let name = note(request.target).map { "/notes/\(state.created[$0] ?? String($0))" }
        return JournaledWrite(
            key: request.values(of: "idempotency-key").first,
            body: String(decoding: request.body, as: UTF8.self),
            request: "\(request.method) \(name ?? request.target)"
        )
    }

    /// Returns the answer to a write that is refused, unanswered or in progress; `nil` if it is done and answered.
    private func refusal(of write: JournaledWrite, _ request: LoopbackRequest) -> LoopbackAnswer? {
        if write.title?.hasSuffix(Self.refusedSuffix) == true { return .whole(status: 422) }
        guard isSlow, let key = write.key else { return nil }
        let count = state.withLock { state in
            state.arrivals[key, default: 0] += 1
            return state.arrivals[key] ?? 0
        }
        switch count {
        case 1:
            // The write is done although it gets no answer.
            _ = perform(write, request)
            return .never
        case 2: return .whole(status: 409)
        default: return nil
        }
    }

    /// Does a write, unless its key is known. Returns the answer to the first write with that key.
    private func perform(_ write: JournaledWrite, _ request: LoopbackRequest) -> Answer {
        state.withLock { state in
            if let key = write.key, let answer = state.answers[key] { return answer }
            let answer = Self.perform(write, request, &state)
            if let key = write.key { state.answers[key] = answer }
            return answer
        }
    }

    private static func perform(_ write: JournaledWrite, _ request: LoopbackRequest, _ state: inout State) -> Answer {
        guard let note = note(request.target) else {
            state.done.append(write)
            let id = state.done.count + 100
            state.created[id] = write.title
            return Answer(status: 201, body: Array("{\"id\": \(id)}".utf8))
        }
        let current = read(request.target, state)
        if let tag = request.values(of: "if-match").first, !current.headerLines.contains("ETag: \(tag)") {
            return Answer(status: 412)
        }
        guard current.status == 200 else { return current }
        state.done.append(write)
        // `.some(nil)` marks a deleted note. A missing entry is a note that was never updated.
        state.titles[note] = .some(request.method == "DELETE" ? nil : write.title)
        return request.method == "DELETE" ? Answer(body: Array("{}".utf8)) : read(request.target, state)
    }

    /// Returns the identity of the note at an address; `nil` if it is not the address of a note.
    private static func note(_ target: String) -> Int? {
        target.hasPrefix("/notes/") ? Int(target.dropFirst("/notes/".count)) : nil
    }

    private static func read(_ target: String, _ state: State) -> Answer {
        if target == "/users" { return Answer(body: Array("[\(user)]".utf8)) }
        guard let note = note(target) else {
            return Answer(body: Array((target.hasPrefix("/posts") ? "[]" : user).utf8))
        }
        guard let title = state.titles[note] ?? (state.created[note] ?? "old") else { return Answer(status: 404) }
        return Answer(
            headerLines: ["ETag: \"\(title)\""],
            body: Array(#"{"id": \#(note), "title": "\#(title)"}"#.utf8)
        )
    }
}
