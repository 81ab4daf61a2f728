import Dispatch
import Foundation
import InwardFetching
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfer of one response: the bytes received so far, and how it ends.
struct URLSessionTransfer {
    typealias Outcome = Result<DataResponse, FetchError>

    private let request: DataRequest
    private let bodyLimit: Int
    private var body = Data()
    /// Whether the upstream may have seen the request.
    var hasBegun = false

    /// Creates a transfer that has received nothing.
    init(of request: DataRequest, bodyLimit: Int) {
        self.request = request
        self.bodyLimit = bodyLimit
    }

    /// Receives the head of the response. Returns the outcome if the announced body is too large.
    func received(_ head: URLResponse) -> Outcome? {
        // A response to `HEAD` announces the length of a body that is not sent.
        request.method != .head && head.expectedContentLength > Int64(bodyLimit) ? tooLarge : nil
    }

    /// Receives the next part of the body. Returns the outcome if the body is too large.
    mutating func received(_ part: Data) -> Outcome? {
        guard part.count <= bodyLimit - body.count else { return tooLarge }
        body.append(part)
        return nil
    }

    /// Returns the outcome when the transfer has ended, with or without an error.
    func completed(with head: URLResponse?, _ error: (any Error)?) -> Outcome {
        if let error { return .failure(failure(for: error)) }
        guard let head = head as? HTTPURLResponse else {
            return .failure(failure(.interrupted, "got no HTTP response"))
        }
        let fields = head.allHeaderFields.compactMap { name, value -> (name: String, value: String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        // `URLSession` decodes bodies itself.
        return .success(DataResponse(status: head.statusCode, fields: fields, body: body) { _ in true })
    }

    private var tooLarge: Outcome {
        .failure(failure(.tooLarge, "was answered with more than \(bodyLimit) bytes, which is the limit"))
    }

    /// Returns the outcome when the waiting task is cancelled.
    func cancelled() -> Outcome {
        .failure(failure(.cancelled, "was cancelled", wasSent: hasBegun))
    }

    /// Returns the outcome when a time limit passes. The limit completes “was not answered …”.
    func timedOut(_ limit: String) -> Outcome {
        .failure(failure(.timedOut, "was not answered \(limit)", wasSent: hasBegun))
    }

    private func failure(for error: any Error) -> FetchError {
        let detail = error.localizedDescription
        switch (error as? URLError)?.code {
        case .timedOut?:
            return failure(.timedOut, "was not answered in time")
        case .cannotFindHost?, .dnsLookupFailed?, .cannotConnectToHost?, .notConnectedToInternet?:
            return failure(.unreachable, "could not reach the host: \(detail)")
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?:
            return failure(.untrusted, "could not verify the identity of the host: \(detail)")
        case .badURL?:
            // Outside of Apple's platforms, this includes URLs whose host is an IPv6 literal.
            return failure(.invalidRequest, "has a URL that URLSession does not support: \(detail)")
        default:
            return failure(.interrupted, "got no complete response: \(detail)")
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

/// A transfer with a waiter. It ends once, with the first outcome, and resumes the waiter.
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

    /// Whether the transfer has not ended yet.
    var isUnderWay: Bool { state.withLock { $0.outcome == nil } }

    /// Marks the transfer as started, or returns `false` if it has already ended.
    ///
    /// Errors after the start say that the upstream may have seen the request.
    func start() -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return false }
            state.transfer.hasBegun = true
            return true
        }
    }

    /// The task that performs the transfer, once it has started.
    var task: URLSessionTask? {
        get { state.withLock(\.task) }
        set { state.withLock { $0.task = newValue } }
    }

    /// Starts the transfer and waits until it ends. Supports only one caller.
    func outcome(begin: () -> Void) async -> Outcome {
        // Resumed exactly once. The step that ends the transfer takes the continuation under the lock and resumes it. If that
        // step came first, the continuation is not stored, and is resumed here.
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) } else { begin() }
        }
    }

    /// Performs a step of the transfer unless it has ended. Ends the transfer if the step returns an outcome.
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

/// The transfers in progress in one session. As the session's delegate, it forwards events to them.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: PendingTransfer]>([:])

    /// The queue on which tasks are created, started and cancelled. Outside of Apple's platforms, a session blocks its caller until
    /// earlier operations are done, which must not happen on the cooperative thread pool.
    private let control = DispatchQueue(label: "inward.url-session")

    /// Creates the task of a transfer and starts it, unless the transfer has already ended.
    func begin(_ transfer: PendingTransfer, by makeTask: @escaping @Sendable () -> URLSessionTask) {
        control.async { [self] in
            guard transfer.start() else { return }
            let task = makeTask()
            transfer.task = task
            transfers.withLock { $0[task.taskIdentifier] = transfer }
            task.resume()
        }
    }

    /// Cancels the task of a transfer that has ended.
    ///
    /// The session's confirmation is not awaited, because a task that is cancelled while it starts may never complete.
    func giveUp(_ transfer: PendingTransfer) {
        control.async { [self] in
            guard let task = transfer.task else { return }
            _ = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            task.cancel()
        }
    }

    private func transfer(by task: URLSessionTask) -> PendingTransfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let transfer = transfer(by: dataTask) {
            transfer.advance { $0.received(response) }
            if !transfer.isUnderWay { giveUp(transfer) }
        }
        // Always allowed: a session that is told to cancel here may still wait for the body. `giveUp` cancels the task instead.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(by: dataTask) else { return }
        transfer.advance { $0.received(data) }
        if !transfer.isUnderWay { giveUp(transfer) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        let head = task.response
        transfer?.advance { $0.completed(with: head, error) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirect is the response. The caller decides whether to follow it.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM:
            // The session has no credentials, so the caller gets the `401` as the response. Apple's platforms deliver the
            // response after the challenge is rejected. Elsewhere, rejecting the challenge cancels the task, so this takes
            // the response first. It has arrived completely by now.
            if let head = task.response { transfer(by: task)?.advance { $0.completed(with: head, nil) } }
            completionHandler(.rejectProtectionSpace, nil)
        default:
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
