import LoopbackServer
import Synchronization

/// An upstream of one user that honours idempotency keys and has a journal of the writes it received. It can kill who asks.
///
/// A slow one does each write, but takes longer than anybody waits: the first attempt gets no answer, the second a 409 because the
/// work goes on, and only the third the answer. It refuses what is titled so, by 422, at once.
final class JournalingUpstream: Sendable {
    /// What the titles of posts end with that are refused.
    static let refusedSuffix = "-refused"

    private struct State {
        var journal: [JournaledWrite] = []
        var done: [JournaledWrite] = []
        var answers: [String: [UInt8]] = [:]
        /// How often a write came, by its key.
        var arrivals: [String: Int] = [:]
        var trap: (request: Int, stage: CrashInstant.Stage, spring: @Sendable () -> Void)?
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

    /// Every write received, in order.
    var journal: [JournaledWrite] { state.withLock(\.journal) }

    /// Every write that was done. Of those with one key it is the first.
    var done: [JournaledWrite] { state.withLock(\.done) }

    /// Does something at the request of this number from now on, from 1 on, instead of what was to be done until now.
    func setTrap(at request: Int, _ stage: CrashInstant.Stage, spring: @escaping @Sendable () -> Void) {
        state.withLock { $0.trap = (request, stage, spring) }
    }

    /// Does nothing but to answer, from now on.
    func clearTrap() {
        state.withLock { $0.trap = nil }
    }

    /// The answer to a request.
    func answer(_ request: LoopbackRequest) -> LoopbackAnswer {
        let write = JournaledWrite(
            key: request.values(of: "idempotency-key").first,
            body: String(decoding: request.body, as: UTF8.self)
        )
        let isWrite = request.method == "POST"
        let trap = state.withLock { state -> (stage: CrashInstant.Stage, spring: @Sendable () -> Void)? in
            if isWrite { state.journal.append(write) }
            state.trap?.request -= 1
            guard let trap = state.trap, trap.request == 0 else { return nil }
            state.trap = nil
            return (trap.stage, trap.spring)
        }
        if let trap, trap.stage == .arrived {
            trap.spring()
            return .raw([])
        }
        if isWrite, let refusal = refusal(of: write) {
            trap?.spring()
            return refusal
        }
        let body = isWrite ? perform(write) : Self.body(at: request.target)
        let answer = LoopbackAnswer.whole(status: isWrite ? 201 : 200, body: body)
        switch trap?.stage {
        case nil, .arrived: return answer
        case .done:
            trap?.spring()
            return answer
        case .halfAnswered:
            let head = Array("HTTP/1.1 201 Created\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
            return .followed(.raw(head + body.prefix(body.count / 2))) { trap?.spring() }
        case .answered:
            return .followed(answer) { trap?.spring() }
        }
    }

    /// What a write gets that is not answered as done; `nil` if it is.
    private func refusal(of write: JournaledWrite) -> LoopbackAnswer? {
        if write.title?.hasSuffix(Self.refusedSuffix) == true { return .whole(status: 422) }
        guard isSlow, let key = write.key else { return nil }
        let count = state.withLock { state in
            state.arrivals[key, default: 0] += 1
            return state.arrivals[key] ?? 0
        }
        switch count {
        case 1:
            // It is done all the same.
            _ = perform(write)
            return .never
        case 2: return .whole(status: 409)
        default: return nil
        }
    }

    /// Does a write unless its key is known, and gives the body of the answer to the first that had it.
    private func perform(_ write: JournaledWrite) -> [UInt8] {
        state.withLock { state in
            if let key = write.key, let answer = state.answers[key] { return answer }
            state.done.append(write)
            let answer = Array("{\"id\": \(state.done.count + 100)}".utf8)
            if let key = write.key { state.answers[key] = answer }
            return answer
        }
    }

    private static func body(at target: String) -> [UInt8] {
        if target == "/users" { return Array("[\(user)]".utf8) }
        return Array((target.hasPrefix("/posts") ? "[]" : user).utf8)
    }
}
