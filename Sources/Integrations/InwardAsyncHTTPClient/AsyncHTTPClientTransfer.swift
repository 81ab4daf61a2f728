#if AsyncHTTPClient
import AsyncHTTPClient
import InwardCore
import InwardFetching
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The transfer of one response.
struct AsyncHTTPClientTransfer: Sendable {
    typealias Outcome = Result<DataResponse, FetchError>

    private let request: DataRequest
    private let client: HTTPClient
    private let bodyLimit: Int
    private let decompresses: Bool

    /// Creates a transfer without starting it.
    init(of request: DataRequest, by client: HTTPClient, bodyLimit: Int, decompresses: Bool) {
        self.request = request
        self.client = client
        self.bodyLimit = bodyLimit
        self.decompresses = decompresses
    }

    /// Performs the transfer and returns its outcome.
    ///
    /// The transfer ends early if its task is cancelled, if the task's deadline passes, or if the idle timer elapses. Arriving data
    /// restarts the timer.
    func outcome(idleTimer: IdleTimer) async -> Outcome {
        let deadline = Deadline.current
        guard !Task.isCancelled else { return .failure(failure(.cancelled, "was cancelled", wasSent: false)) }
        guard deadline?.hasPassed != true else {
            return .failure(failure(.timedOut, "was not sent before the deadline", wasSent: false))
        }
        let receiver = AsyncHTTPClientReceiver(of: request, bodyLimit: bodyLimit, noting: idleTimer.restart)
        let task: HTTPClient.Task<Void>
        do {
            task = client.execute(request: try HTTPClient.Request(request), delegate: receiver)
        } catch {
            return .failure(FetchError(error, of: request))
        }
        // The client has a deadline of its own, which is not used: its error would not say which limit ended the transfer.
        idleTimer.whenElapsed { task.fail(reason: failure(.timedOut, "was not answered in time")) }
        let callOff = deadline?.whenPassed {
            task.fail(reason: failure(.timedOut, "was not answered before the deadline"))
        }
        defer {
            idleTimer.stop()
            callOff?()
        }
        do {
            try await withTaskCancellationHandler {
                try await task.get()
            } onCancel: {
                task.fail(reason: failure(.cancelled, "was cancelled"))
            }
            return receiver.answer(isDecompressed: decompresses)
        } catch {
            return receiver.answer(despite: error, isDecompressed: decompresses)
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

/// Collects one response, up to a size limit.
final class AsyncHTTPClientReceiver: HTTPClientResponseDelegate {
    typealias Response = Void

    private struct Arrived {
        var head: HTTPResponseHead?
        var body = Data()
        var visits = 0
    }

    private let request: DataRequest
    private let bodyLimit: Int
    private let noteArrival: @Sendable () -> Void
    private let arrived = Mutex(Arrived())

    /// Creates a receiver for the response to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLimit: The maximum size of the body in bytes.
    ///   - noteArrival: A closure that is called whenever data arrives.
    init(of request: DataRequest, bodyLimit: Int, noting noteArrival: @escaping @Sendable () -> Void) {
        self.request = request
        self.bodyLimit = bodyLimit
        self.noteArrival = noteArrival
    }

    /// Returns the outcome of a transfer that ended without an error.
    func answer(isDecompressed: Bool) -> Result<DataResponse, FetchError> {
        let arrived = arrived.withLock { $0 }
        guard let head = arrived.head else { return .failure(failure(.interrupted, "got no HTTP response")) }
        guard arrived.visits < 2 else {
            return .failure(
                failure(.invalidRequest, "was redirected by the HTTPClient, which must not follow redirects")
            )
        }
        let response = DataResponse(status: Int(head.status.code), fields: head.headers, body: arrived.body) { coding in
            isDecompressed && ["gzip", "deflate"].contains(coding)
        }
        return .success(response)
    }

    /// Returns the outcome of a transfer that ended with an error.
    func answer(despite error: any Error, isDecompressed: Bool) -> Result<DataResponse, FetchError> {
        switch error {
        case let error as FetchError: return .failure(error)
        case NIOHTTPDecompression.DecompressionError.limit: return .failure(tooLarge)
        case let error as NIOHTTPDecompression.ExtraDecompressionError
        where error == .truncatedData && arrived.withLock { $0.head }.map(hasNoBody) ?? false:
            // The decompressor reports an error for a response that must not have a body.
            return answer(isDecompressed: isDecompressed)
        default: return .failure(FetchError(error, of: request))
        }
    }

    func didVisitURL(task: HTTPClient.Task<Void>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        arrived.withLock { $0.visits += 1 }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        noteArrival()
        arrived.withLock { $0.head = head }
        guard !hasNoBody(head), let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) else {
            return task.eventLoop.makeSucceededVoidFuture()
        }
        guard length <= bodyLimit else { return task.eventLoop.makeFailedFuture(tooLarge) }
        // The announced length may be false, so the reservation has a limit.
        arrived.withLock { $0.body.reserveCapacity(min(max(0, length), Self.maximumReservation)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        noteArrival()
        let isTaken = arrived.withLock { arrived in
            guard part.readableBytes <= bodyLimit - arrived.body.count else { return false }
            arrived.body.append(contentsOf: part.readableBytesView)
            return true
        }
        return isTaken ? task.eventLoop.makeSucceededVoidFuture() : task.eventLoop.makeFailedFuture(tooLarge)
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    /// Returns whether the response has no body, regardless of its header fields (RFC 9110 section 6.4.1).
    private func hasNoBody(_ head: HTTPResponseHead) -> Bool {
        request.method == .head || [204, 304].contains(head.status.code)
    }

    private var tooLarge: FetchError {
        failure(.tooLarge, "was answered with more than \(bodyLimit) bytes, which is the limit")
    }

    private func failure(_ reason: FetchError.Reason, _ explanation: String) -> FetchError {
        FetchError(reason, request: request, explanation: explanation)
    }

    private static let maximumReservation = 64 * 1_024
}

extension HTTPClient.Request {
    /// Converts a request to the client's format.
    ///
    /// - Throws: The client's error if it does not support the URL.
    init(_ request: DataRequest) throws {
        var headers = HTTPHeaders()
        for field in request.headerFields where field.name != .cookie {
            headers.add(name: field.name.rawValue, value: field.value)
        }
        // `Cookie` is the only list that must not be sent as repeated fields (RFC 6265 section 5.4).
        let cookies = request.headerFields.values(of: .cookie)
        if !cookies.isEmpty { headers.add(name: "Cookie", value: cookies.joined(separator: "; ")) }
        if let user = request.url.user(percentEncoded: false), !headers.contains(name: "Authorization") {
            let password = request.url.password(percentEncoded: false) ?? ""
            let credentials = HTTPClient.Authorization.basic(username: user, password: password)
            headers.add(name: "Authorization", value: credentials.headerValue)
        }
        try self.init(
            url: request.url.absoluteString,
            method: HTTPMethod(rawValue: request.method.rawValue),
            headers: headers,
            body: request.body.map { .bytes($0) }
        )
    }
}
#endif
