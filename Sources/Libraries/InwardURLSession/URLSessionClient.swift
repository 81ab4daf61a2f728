import Foundation
import InwardCore
import InwardFetching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of the platform's client, with connections of its own that close when nobody holds it any more.
final class URLSessionClient: Sendable {
    private let session: URLSession
    private let transfers = URLSessionTransfers()

    init(configuration: URLSessionConfiguration) {
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit {
        // A session holds its delegate and its connections until it is told that it is over.
        session.finishTasksAndInvalidate()
    }

    /// How the transfer of the answer to a request ends.
    func outcome(of request: DataRequest, bodyLimit: Int) async -> URLSessionTransfer.Outcome {
        let transfer = PendingTransfer(URLSessionTransfer(of: request, bodyLimit: bodyLimit))
        let callOff = Deadline.current?.whenPassed { [transfers] in
            transfer.advance { $0.timedOut("before the deadline") }
            transfers.giveUp(transfer)
        }
        defer { callOff?() }
        return await withTaskCancellationHandler {
            await transfer.outcome {
                // Holds `self`, which ends the session when it goes: a session that has ended makes no task.
                transfers.begin(transfer) { [self] in session.dataTask(with: URLRequest(request)) }
            }
        } onCancel: {
            transfer.advance { $0.cancelled() }
            transfers.giveUp(transfer)
        }
    }
}
