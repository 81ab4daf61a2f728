import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfers in progress in one session. As the session's delegate, it forwards events to them.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: PendingTransfer]>([:])

    /// The queue on which tasks are created, started and cancelled. Outside of Apple's platforms, a session blocks its caller
    /// until earlier operations are done, so this must not happen on the cooperative thread pool.
    private let control = DispatchQueue(label: "inward.url-session")

    /// Starts a transfer with a task created by a closure, unless the transfer has already ended.
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
    /// Nothing waits for the session to confirm this: a task that is cancelled while it starts may never be reported as
    /// complete.
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
        // Even if the transfer has ended: a session told to cancel here may continue to wait for the body.
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
            // Credentials are header fields of the request, so the `401` is the response. Apple's platforms deliver it once the
            // challenge is rejected. Elsewhere, the whole response has arrived by now, and rejecting the challenge cancels the
            // task.
            if let head = task.response { transfer(by: task)?.advance { $0.completed(with: head, nil) } }
            completionHandler(.rejectProtectionSpace, nil)
        default:
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
