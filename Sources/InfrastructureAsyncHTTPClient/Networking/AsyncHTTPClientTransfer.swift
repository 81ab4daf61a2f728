#if AsyncHTTPClient
import AsyncHTTPClient
import InterfaceAdapters
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The transfer of one answer: what is asked, of which client, and how much of it is taken.
struct AsyncHTTPClientTransfer: Sendable {
    typealias Outcome = Result<DataResponse, FetchError>

    private let request: DataRequest
    private let client: HTTPClient
    private let bodyLimit: Int
    private let decompresses: Bool

    /// A transfer that has not begun, by a client that decompresses bodies or does not.
    init(of request: DataRequest, by client: HTTPClient, bodyLimit: Int, decompresses: Bool) {
        self.request = request
        self.client = client
        self.bodyLimit = bodyLimit
        self.decompresses = decompresses
    }

    /// Carries the transfer out and says how it ended: also by cancellation, or because a timer elapsed that the transfer
    /// restarts whenever something arrives, or because the deadline of the task has passed.
    func outcome(idleTimer: IdleTimer) async -> Outcome {
        // The work below is a task of its own, which could be done before it hears of this.
        guard !Task.isCancelled else { return cancelled }
        let deadline = Deadline.current
        guard deadline?.hasPassed != true else {
            return failure(.timedOut, "was not sent before the deadline", wasSent: false)
        }
        // The client has a deadline too, and gives it up as soon as the head is there.
        let work = RevocableWork { await outcome(noting: idleTimer.restart) }
        let ended = await work.outcome { revoke in
            idleTimer.whenElapsed(revoke)
            let callOff = deadline?.whenPassed(revoke)
            return {
                idleTimer.stop()
                callOff?()
            }
        }
        if case .success(let outcome)? = ended { return outcome }
        return deadline?.hasPassed == true ? failure(.timedOut, "was not answered before the deadline") : timedOut
    }

    /// Carries the transfer out and says how it ended; calls a function whenever something arrives.
    func outcome(noting noteArrival: () -> Void) async -> Outcome {
        guard !Task.isCancelled else { return cancelled }
        do {
            let response = try await client.execute(HTTPClientRequest(request), deadline: .distantFuture)
            noteArrival()
            guard response.history.count < 2 else { return followedRedirect }
            guard !announcesTooMuch(response) else { return tooLarge }
            var body = Data()
            // Whoever leaves this before its end drops what is left, for which the client closes the connection.
            do {
                for try await part in response.body {
                    noteArrival()
                    guard part.readableBytes <= bodyLimit - body.count else { return tooLarge }
                    body.append(contentsOf: part.readableBytesView)
                }
            } catch let error as NIOHTTPDecompression.ExtraDecompressionError
                where error == .truncatedData && hasNoBody(response)
            {
                // The decompressor misses what is not meant to be there.
            }
            return .success(DataResponse(response, body: body, isDecompressed: decompresses))
        } catch NIOHTTPDecompression.DecompressionError.limit {
            return tooLarge
        } catch {
            return Task.isCancelled ? cancelled : .failure(FetchError(error, of: request))
        }
    }

    private func announcesTooMuch(_ response: HTTPClientResponse) -> Bool {
        guard !hasNoBody(response), let length = response.headers.first(name: "Content-Length") else { return false }
        return Int(length).map { $0 > bodyLimit } ?? false
    }

    /// Whether the answer has no body, whatever its header fields say (RFC 9110 section 6.4.1).
    private func hasNoBody(_ response: HTTPClientResponse) -> Bool {
        request.method == .head || [204, 304].contains(response.status.code)
    }

    private var tooLarge: Outcome {
        failure(.tooLarge, "was answered with more than \(bodyLimit) bytes, the most allowed")
    }

    private var timedOut: Outcome { failure(.timedOut, "was not answered in time") }

    private var cancelled: Outcome { failure(.cancelled, "was cancelled") }

    private var followedRedirect: Outcome {
        failure(.invalidRequest, "was redirected by a client that is to leave redirects to its data fetcher")
    }

    private func failure(
        _ reason: FetchError.Reason,
        _ explanation: String,
        wasSent: Bool = true
    ) -> Outcome {
        .failure(FetchError(reason, request: request, explanation: explanation, wasSent: wasSent))
    }
}

extension DataResponse {
    /// An answer of a head and a body, which its client may have decompressed.
    fileprivate init(_ response: HTTPClientResponse, body: Data, isDecompressed: Bool) {
        let fields = response.headers.compactMap { name, value in
            HeaderField.Name(name).map { HeaderField($0, value) }
        }
        self.init(status: Status(Int(response.status.code)), headerFields: HeaderFields(fields), body: body)
        // The body arrives decoded, so what described its coding would be wrong of it.
        if isDecompressed, ["gzip", "deflate"].contains(headerFields[.contentEncoding]?.lowercased()) {
            headerFields[.contentEncoding] = nil
            headerFields[.contentLength] = nil
        }
    }
}
#endif
