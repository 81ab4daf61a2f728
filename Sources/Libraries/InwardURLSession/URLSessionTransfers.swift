import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfers under way in one session: hears from the session what arrives, and ends them by it.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: PendingTransfer]>([:])

    /// Where tasks are made, started and cancelled, one after the other. Outside of Apple's platforms a session makes its
    /// caller wait for all that it is doing, which must not be a thread that tasks share.
    private let control = DispatchQueue(label: "inward.url-session")

    /// Begins a transfer, unless it has ended by the time, with a task that a function makes.
    func begin(_ transfer: PendingTransfer, by makeTask: @escaping @Sendable () -> URLSessionTask) {
        control.async { [self] in
            guard transfer.start() else { return }
            let task = makeTask()
            transfer.task = task
            transfers.withLock { $0[task.taskIdentifier] = transfer }
            task.resume()
        }
    }

    /// Gives up what carries out a transfer that has ended.
    ///
    /// Nothing waits for the session to say so: a task that is cancelled while it starts may never be said to be complete.
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
        // Also where it does not go on: a session that is told to cancel here may go on waiting for the body.
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
        // The redirect is the answer; whether it is followed is decided by who asked.
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
            // Credentials are header fields of the request, so the `401` is the answer. Apple's platforms deliver it once
            // the challenge is rejected. Elsewhere the whole answer is here by now, and rejecting cancels the task.
            if let head = task.response { transfer(by: task)?.advance { $0.completed(with: head, nil) } }
            completionHandler(.rejectProtectionSpace, nil)
        default:
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
