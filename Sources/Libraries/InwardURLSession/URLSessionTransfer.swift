import Foundation
import InwardFetching
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One answer on its way: what has arrived of it, and what it comes to.
struct URLSessionTransfer {
    typealias Outcome = Result<DataResponse, FetchError>

    private let request: DataRequest
    private let bodyLimit: Int
    private var body = Data()
    /// Whether the upstream may have seen the request.
    var hasBegun = false

    /// A transfer of which nothing has arrived.
    init(of request: DataRequest, bodyLimit: Int) {
        self.request = request
        self.bodyLimit = bodyLimit
    }

    /// Takes the head of the answer; gives how the transfer ends, if the body it announces is too large.
    func received(_ head: URLResponse) -> Outcome? {
        // The length in the answer to a `HEAD` is that of a body which does not come.
        request.method != .head && head.expectedContentLength > Int64(bodyLimit) ? tooLarge : nil
    }

    /// Takes the next part of the body; gives how the transfer ends, if it is too large to go on.
    mutating func received(_ part: Data) -> Outcome? {
        guard part.count <= bodyLimit - body.count else { return tooLarge }
        body.append(part)
        return nil
    }

    /// How the transfer ends when nothing more arrives.
    func completed(with head: URLResponse?, _ error: (any Error)?) -> Outcome {
        if let error { return .failure(failure(for: error)) }
        guard let head = head as? HTTPURLResponse else {
            return .failure(failure(.interrupted, "was answered with nothing"))
        }
        return .success(DataResponse(head, body: body))
    }

    private var tooLarge: Outcome {
        .failure(failure(.tooLarge, "was answered with more than \(bodyLimit) bytes, the most allowed"))
    }

    /// How the transfer ends when nobody waits for it any more.
    func cancelled() -> Outcome {
        .failure(failure(.cancelled, "was cancelled", wasSent: hasBegun))
    }

    /// How the transfer ends when there is no time left for it.
    func timedOut(_ limit: String) -> Outcome {
        .failure(failure(.timedOut, "was not answered \(limit)", wasSent: hasBegun))
    }

    private func failure(for error: any Error) -> FetchError {
        let detail = error.localizedDescription
        switch (error as? URLError)?.code {
        case .timedOut?:
            return failure(.timedOut, "was not answered in time")
        case .cannotFindHost?, .dnsLookupFailed?, .cannotConnectToHost?, .notConnectedToInternet?:
            return failure(.unreachable, "reached nobody: \(detail)")
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?:
            return failure(.untrusted, "reached a host that could not prove who it is: \(detail)")
        case .badURL?:
            // Outside of Apple's platforms also an address whose host is a number of IPv6.
            return failure(.invalidRequest, "has an address that the platform's client cannot ask: \(detail)")
        default:
            return failure(.interrupted, "was not answered whole: \(detail)")
        }
    }

    private func failure(
        _ reason: FetchError.Reason,
        _ explanation: String,
        wasSent: Bool = true
    ) -> FetchError {
        FetchError(reason, request: request, explanation: explanation, wasSent: wasSent)
    }
}

extension DataResponse {
    /// An answer of a head and a body.
    fileprivate init(_ head: HTTPURLResponse, body: Data) {
        let fields = head.allHeaderFields.compactMap { name, value -> HeaderField? in
            guard let name = name as? String, let name = HeaderField.Name(name), let value = value as? String else {
                return nil
            }
            return HeaderField(name, value)
        }
        self.init(status: Status(head.statusCode), headerFields: HeaderFields(fields), body: body)
        // The body arrives decoded, so what described its coding would be wrong of it.
        if headerFields[.contentEncoding] != nil {
            headerFields[.contentEncoding] = nil
            headerFields[.contentLength] = nil
        }
    }
}

/// A transfer that somebody waits for: it ends once, by whatever comes first, and tells who waits.
final class PendingTransfer: Sendable {
    typealias Outcome = URLSessionTransfer.Outcome

    private struct State {
        var transfer: URLSessionTransfer
        var task: URLSessionTask?
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state: Mutex<State>

    init(_ transfer: URLSessionTransfer) {
        state = Mutex(State(transfer: transfer))
    }

    /// Whether nothing has ended the transfer yet.
    var isUnderWay: Bool { state.withLock { $0.outcome == nil } }

    /// Begins to carry the transfer out, unless it has ended: from now on the upstream may have seen the request.
    func start() -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return false }
            state.transfer.hasBegun = true
            return true
        }
    }

    /// The task that carries the transfer out, once it has begun.
    var task: URLSessionTask? {
        get { state.withLock(\.task) }
        set { state.withLock { $0.task = newValue } }
    }

    /// Begins, and waits until the transfer ends. For one caller.
    func outcome(begin: () -> Void) async -> Outcome {
        // Resumed exactly once: by the step that ends the transfer, which takes the continuation out under the lock; or
        // here, if that step came first.
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) } else { begin() }
        }
    }

    /// Takes a step of the transfer unless it has ended, and ends it if the step says how.
    func advance(_ step: (inout URLSessionTransfer) -> Outcome?) {
        let ended = state.withLock { state -> (CheckedContinuation<Outcome, Never>?, Outcome)? in
            guard state.outcome == nil, let outcome = step(&state.transfer) else { return nil }
            defer { state.continuation = nil }
            state.outcome = outcome
            return (state.continuation, outcome)
        }
        if let (continuation, outcome) = ended { continuation?.resume(returning: outcome) }
    }
}
