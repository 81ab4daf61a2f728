#if AsyncHTTPClient
import AsyncHTTPClient
import InwardCore
import InwardFetching
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

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
        // The client's own deadline is not used: what ends the transfer says why.
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
#endif
