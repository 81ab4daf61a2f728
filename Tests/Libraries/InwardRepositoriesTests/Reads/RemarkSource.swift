import InwardCore
import InwardFetching
import InwardTesting
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An upstream of remarks that a test can change, damage, delay and take offline.
final class RemarkSource: DataFetcher {
    private struct State {
        var remarks: [Int: Remark] = [:]
        var headerFields: HeaderFields = []
        var failure: FetchError.Reason?
        var status: DataResponse.Status?
        var body: String?
        var isDegraded = false
        var requests: [DataRequest] = []
    }

    private let state = Mutex(State())
    private let arrival: @Sendable (DataRequest) async throws -> Void
    private let departure: @Sendable (DataRequest) async throws -> Void

    /// Creates an upstream with three remarks, two of them by author 7.
    ///
    /// - Parameters:
    ///   - arrival: Called before a request is processed.
    ///   - departure: Called before a response is returned.
    init(
        arrival: @escaping @Sendable (DataRequest) async throws -> Void = { _ in },
        departure: @escaping @Sendable (DataRequest) async throws -> Void = { _ in }
    ) {
        self.arrival = arrival
        self.departure = departure
        for remark in [
            Remark(id: 1, author: 7, text: "one"), Remark(id: 2, author: 7, text: "two"),
            Remark(id: 3, author: 8, text: "three"),
        ] { put(remark) }
    }

    /// Creates an upstream that holds its first response until a promise is fulfilled.
    static func holdingTheFirstAnswer(begun: Rendezvous, until isReleased: Promise<Void>) -> RemarkSource {
        let once = Once()
        return RemarkSource { _ in
        } departure: { _ in
            guard once.isFirst() else { return }
            await begun.arrive()
            _ = await isReleased.value()
        }
    }

    /// The requests so far.
    var requests: [DataRequest] { state.withLock(\.requests) }

    /// The current remarks.
    var remarks: [Remark] { state.withLock { $0.remarks.values.sorted { $0.id < $1.id } } }

    func put(_ remark: Remark) { state.withLock { $0.remarks[remark.id] = remark } }

    func remove(_ id: Int) { state.withLock { $0.remarks[id] = nil } }

    /// Fails all later requests with an error, or answers them again if it is `nil`.
    func fail(_ reason: FetchError.Reason?) { state.withLock { $0.failure = reason } }

    /// Answers all later requests with this status and body.
    func answer(status: DataResponse.Status? = nil, body: String? = nil) {
        state.withLock { ($0.status, $0.body) = (status, body) }
    }

    /// Adds a header field to all later responses.
    func send(_ name: HeaderField.Name, _ value: String) { state.withLock { $0.headerFields[name] = value } }

    /// Marks all later responses as fallbacks.
    func degrade() { state.withLock { $0.isDegraded = true } }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        state.withLock { $0.requests.append(request) }
        try await pass(arrival, request)
        let answer = try state.withLock { state throws(FetchError) in try Self.answer(request, &state) }
        try await pass(departure, request)
        return answer
    }

    private func pass(
        _ gate: @Sendable (DataRequest) async throws -> Void,
        _ request: DataRequest
    ) async throws(FetchError) {
        do {
            try await gate(request)
        } catch {
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
    }

    private static func answer(_ request: DataRequest, _ state: inout State) throws(FetchError) -> DataResponse {
        if let failure = state.failure { throw FetchError(failure, request: request, explanation: "was told to fail") }
        var response = DataResponse(headerFields: state.headerFields)
        if let body = state.body {
            response.body = Data(body.utf8)
        } else if let body = body(for: request, &state) {
            response.body = body
        } else {
            response.status = .notFound
        }
        response.status = state.status ?? response.status
        if state.isDegraded {
            response.fallbackReason = FetchError(.unreachable, request: request, explanation: "reached nobody")
        }
        return response
    }

    private static func body(for request: DataRequest, _ state: inout State) -> Data? {
        if request.method == .post, let body = request.body {
            guard let remark = try? JSONDecoder().decode(RemarkDTO.self, from: body).entity() else { return nil }
            state.remarks[remark.id] = remark
            return body
        }
        let name = request.url.lastPathComponent
        if name == "remarks" {
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let author = items.first { $0.name == "author" }?.value.flatMap(Int.init)
            let remarks = state.remarks.values.filter { author == nil || $0.author == author }
            return try? JSONEncoder().encode(remarks.sorted { $0.id < $1.id }.map(RemarkDTO.init))
        }
        return Int(name).flatMap { state.remarks[$0] }.flatMap { try? JSONEncoder().encode(RemarkDTO($0)) }
    }
}
