import Foundation
import InterfaceAdapters
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfers under way in one session: hears from the session what arrives, and tells who waits how it ended.
///
/// Whatever ends a transfer takes it out under the lock and only then resumes who waits, so each ends once. Who gives a
/// transfer up does not wait for the session to say so: a task that is cancelled while it starts may never be said to be
/// complete.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    private struct Entry {
        var transfer: URLSessionTransfer
        let continuation: CheckedContinuation<URLSessionTransfer.Outcome, Never>

        mutating func advance(
            _ step: (inout URLSessionTransfer) -> URLSessionTransfer.Outcome?
        ) -> URLSessionTransfer.Outcome? {
            step(&transfer)
        }
    }

    private let entries = Mutex<[Int: Entry]>([:])

    /// Starts a task, and waits until its transfer ends or the current task is cancelled.
    func outcome(of transfer: URLSessionTransfer, by task: URLSessionTask) async -> URLSessionTransfer.Outcome {
        await withTaskCancellationHandler {
            // Resumed exactly once: by whoever takes the entry out, which the session's last word on the task does if
            // nobody did before. The session lives until then, because who waits here holds it.
            await withCheckedContinuation { continuation in
                entries.withLock { $0[task.taskIdentifier] = Entry(transfer: transfer, continuation: continuation) }
                // A cancellation before the entry was there has found nothing to end.
                if Task.isCancelled { cancel(task) } else { task.resume() }
            }
        } onCancel: {
            cancel(task)
        }
    }

    private func cancel(_ task: URLSessionTask) {
        advance(task) { $0.cancelled() }
        task.cancel()
    }

    /// Takes a step of a transfer, ends it if the step says how, and says whether it goes on.
    @discardableResult
    private func advance(
        _ task: URLSessionTask,
        _ step: (inout URLSessionTransfer) -> URLSessionTransfer.Outcome?
    ) -> Bool {
        let id = task.taskIdentifier
        let (ended, goesOn) = entries.withLock { entries -> ((Entry, URLSessionTransfer.Outcome)?, Bool) in
            guard let outcome = entries[id]?.advance(step) else { return (nil, entries.keys.contains(id)) }
            return (entries.removeValue(forKey: id).map { ($0, outcome) }, false)
        }
        if let (entry, outcome) = ended { entry.continuation.resume(returning: outcome) }
        return goesOn
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let head = dataTask.response
        let goesOn = advance(dataTask) { $0.received(data, after: head) }
        if !goesOn { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let head = task.response
        advance(task) { $0.completed(with: head, error) }
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
            if let head = task.response { advance(task) { $0.completed(with: head, nil) } }
            completionHandler(.rejectProtectionSpace, nil)
        default:
            completionHandler(.performDefaultHandling, nil)
        }
    }
}
