import InwardCore
import InwardFetching
import Synchronization

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An upstream of remarks with entity tags. It refuses a write for a version other than its own.
final class VersionedSource: DataFetcher {
    /// The fate of a write.
    enum Fate {
        case answered
        /// The write is done, and the response is lost.
        case answerLost
        /// The write does not arrive.
        case lost
        case refused(DataResponse.Status)
        /// The write is done, and the response is empty.
        case emptyAnswer
        /// The write is done, and the response is not a remark.
        case strangeAnswer
    }

    private struct State {
        var remarks: [Int: (remark: Remark, version: Int)] = [:]
        var lastID = 3
        var fates: [Fate] = []
        var requests: [DataRequest] = []
        var isOffline = false
        var hasTags = true
        /// The number of writes until the upstream goes offline.
        var writesLeft: Int?
        var honoursKeys = false
        var losesFirstAnswers = false
        /// The responses to completed writes, by idempotency key.
        var answers: [String: DataResponse] = [:]
    }

    private let state = Mutex(State())
    private let gate: @Sendable (DataRequest) async -> Void

    /// Creates an upstream with three remarks, each in its first version.
    ///
    /// - Parameter gate: Called before a request is processed.
    init(gate: @escaping @Sendable (DataRequest) async -> Void = { _ in }) {
        self.gate = gate
        for id in 1...3 { put(Remark(id: id, author: 7, text: "\(id)")) }
    }

    /// The writes so far with their entity tags, such as `PUT 7 "v1"`.
    var writes: [String] {
        state.withLock { state in
            state.requests.filter { $0.method != .get }.map { request in
                let tag = request.headerFields[.ifMatch].map { " \($0)" } ?? ""
                return "\(request.method) \(request.url.lastPathComponent)\(tag)"
            }
        }
    }

    var requests: [DataRequest] { state.withLock(\.requests) }

    var remarks: [Remark] { state.withLock { $0.remarks.values.map(\.remark).sorted { $0.id < $1.id } } }

    func remark(_ id: Int) -> Remark? { state.withLock { $0.remarks[id]?.remark } }

    /// Adds a version of a remark.
    func put(_ remark: Remark) {
        state.withLock { $0.remarks[remark.id] = (remark, ($0.remarks[remark.id]?.version ?? 0) + 1) }
    }

    func remove(_ id: Int) { state.withLock { $0.remarks[id] = nil } }

    /// Sets the fates of the next writes.
    func meet(_ fates: Fate...) { state.withLock { $0.fates = fates } }

    func goOffline(_ isOffline: Bool = true) { state.withLock { $0.isOffline = isOffline } }

    /// Goes offline after a number of writes.
    func goOfflineAfterWrites(_ count: Int) { state.withLock { $0.writesLeft = count } }

    func omitTags() { state.withLock { $0.hasTags = false } }

    /// Honors idempotency keys from now on: answers the repeat of a write with the first response, and does not do it again.
    ///
    /// - Parameter isLosing: Whether the first response to each write is lost.
    func honorKeys(losingFirstAnswers isLosing: Bool) {
        state.withLock { ($0.honoursKeys, $0.losesFirstAnswers) = (true, isLosing) }
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        await gate(request)
        return try state.withLock { state throws(FetchError) in
            if state.isOffline { throw FetchError(.unreachable, request: request, explanation: "reached nobody") }
            state.requests.append(request)
            guard request.method != .get else { return Self.read(request, state) }
            if let left = state.writesLeft {
                state.writesLeft = left > 1 ? left - 1 : nil
                state.isOffline = left <= 1
            }
            let fate = state.fates.isEmpty ? Fate.answered : state.fates.removeFirst()
            if case .refused(let status) = fate { return DataResponse(status: status) }
            if case .lost = fate { throw FetchError(.timedOut, request: request, explanation: "was lost") }
            let key = request.headerFields[.idempotencyKey] ?? ""
            if let answer = state.answers[key] { return answer }
            let response = Self.write(request, &state)
            if state.honoursKeys { state.answers[key] = response }
            if state.losesFirstAnswers {
                throw FetchError(.timedOut, request: request, explanation: "was not answered")
            }
            switch fate {
            case .answerLost: throw FetchError(.timedOut, request: request, explanation: "was not answered")
            case .emptyAnswer where response.status.isSuccess: return DataResponse(status: 204)
            case .strangeAnswer where response.status.isSuccess: return DataResponse(body: Data(#"{"ok": true}"#.utf8))
            default: return response
            }
        }
    }

    private static func read(_ request: DataRequest, _ state: State) -> DataResponse {
        let name = request.url.lastPathComponent
        guard name != "remarks" else {
            let remarks = state.remarks.values.map(\.remark).sorted { $0.id < $1.id }
            return DataResponse(body: (try? JSONEncoder().encode(remarks.map(RemarkDTO.init))) ?? Data())
        }
        return answer(Int(name).flatMap { state.remarks[$0] }, state)
    }

    private static func answer(_ found: (remark: Remark, version: Int)?, _ state: State) -> DataResponse {
        guard let found else { return DataResponse(status: .notFound) }
        var response = DataResponse(body: (try? JSONEncoder().encode(RemarkDTO(found.remark))) ?? Data())
        if state.hasTags { response.headerFields[.etag] = "\"v\(found.version)\"" }
        return response
    }

    private static func write(_ request: DataRequest, _ state: inout State) -> DataResponse {
        let body = request.body ?? Data()
        if request.method == .post {
            state.lastID += 1
            let id = state.lastID
            guard let draft = try? JSONDecoder().decode(RemarkDTO.self, from: body).entity() else {
                return DataResponse(status: 422)
            }
            state.remarks[id] = (Remark(id: id, author: draft.author, text: draft.text), 1)
            return answer(state.remarks[id], state)
        }
        guard let id = Int(request.url.lastPathComponent), let old = state.remarks[id] else {
            return DataResponse(status: .notFound)
        }
        if let tag = request.headerFields[.ifMatch], tag != "\"v\(old.version)\"" { return DataResponse(status: 412) }
        guard request.method != .delete else {
            state.remarks[id] = nil
            return DataResponse(status: 204)
        }
        let isPatch = request.method == .patch
        let contentType = request.headerFields[.contentType]
        guard contentType == (isPatch ? MergePatch.mediaType : "application/json; charset=utf-8") else {
            return DataResponse(status: 415)
        }
        let record = try? isPatch ? MergePatch(body)?.applied(to: JSONEncoder().encode(RemarkDTO(old.remark))) : body
        guard let new = try? JSONDecoder().decode(RemarkDTO.self, from: record ?? Data()).entity(), new.id == id else {
            return DataResponse(status: 422)
        }
        state.remarks[id] = (new, old.version + 1)
        return answer(state.remarks[id], state)
    }
}
