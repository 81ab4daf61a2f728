import Foundation
import InterfaceAdapters
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfers under way in one session: hears from the session what arrives, and tells who waits how it ended.
final class URLSessionTransfers: NSObject, URLSessionDataDelegate {
    typealias Ending = CheckedContinuation<Result<DataResponse, FetchError>, Never>

    private struct Entry {
        var transfer: URLSessionTransfer
        let ending: Ending
    }

    private let entries = Mutex<[Int: Entry]>([:])

    /// Starts a task whose end resumes the continuation.
    func begin(_ transfer: URLSessionTransfer, by task: URLSessionTask, continuation: Ending) {
        entries.withLock { $0[task.taskIdentifier] = Entry(transfer: transfer, ending: continuation) }
        task.resume()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let goesOn = entries.withLock { $0[dataTask.taskIdentifier]?.transfer.receive(response) ?? false }
        completionHandler(goesOn ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let goesOn = entries.withLock { $0[dataTask.taskIdentifier]?.transfer.receive(data) ?? false }
        if !goesOn { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let entry = entries.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        entry.ending.resume(returning: entry.transfer.ended(with: error))
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
}
