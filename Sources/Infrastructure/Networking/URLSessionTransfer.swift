import Foundation
import InterfaceAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One answer on its way: what has arrived of it, and whether that is still allowed.
struct URLSessionTransfer {
    private let request: DataRequest
    private let bodyLimit: Int
    private var response: DataResponse?
    private var isTooLarge = false

    /// A transfer of which nothing has arrived.
    init(of request: DataRequest, bodyLimit: Int) {
        self.request = request
        self.bodyLimit = bodyLimit
    }

    /// Takes the head of the answer, and says whether its body may come.
    mutating func receive(_ head: URLResponse) -> Bool {
        guard let head = head as? HTTPURLResponse else { return false }
        response = DataResponse(head)
        // The length of the answer to a HEAD is that of a body which does not come.
        isTooLarge = request.method != .head && head.expectedContentLength > Int64(bodyLimit)
        return !isTooLarge
    }

    /// Takes the next part of the body, and says whether more may come.
    mutating func receive(_ part: Data) -> Bool {
        guard !isTooLarge, let received = response?.body.count, part.count <= bodyLimit - received else {
            isTooLarge = response != nil
            return false
        }
        response?.body.append(part)
        return true
    }

    /// What the transfer comes to, now that nothing more arrives.
    func ended(with error: (any Error)?) -> Result<DataResponse, FetchError> {
        if isTooLarge {
            return .failure(failure(.tooLarge, "was answered with more than \(bodyLimit) bytes, the most allowed"))
        }
        if let error { return .failure(failure(for: error)) }
        guard let response else { return .failure(failure(.interrupted, "was answered with nothing")) }
        return .success(response)
    }

    private func failure(for error: any Error) -> FetchError {
        let detail = error.localizedDescription
        switch (error as? URLError)?.code {
        case .cancelled?:
            return failure(.cancelled, "was cancelled")
        case .timedOut?:
            return failure(.timedOut, "was not answered in time")
        case .cannotFindHost?, .dnsLookupFailed?, .cannotConnectToHost?, .notConnectedToInternet?:
            return failure(.unreachable, "reached nobody: \(detail)")
        case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
            .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?:
            return failure(.untrusted, "reached a host that could not prove who it is: \(detail)")
        case .badURL?, .unsupportedURL?:
            return failure(.invalidRequest, "is not a request for a web address: \(detail)")
        default:
            return failure(.interrupted, "was cut off before its answer was whole: \(detail)")
        }
    }

    private func failure(_ reason: FetchError.Reason, _ explanation: String) -> FetchError {
        FetchError(reason, request: request, explanation: explanation)
    }
}

extension DataResponse {
    /// The head of an answer, without its body.
    fileprivate init(_ head: HTTPURLResponse) {
        let fields = head.allHeaderFields.compactMap { name, value -> HeaderField? in
            guard let name = name as? String, let name = HeaderField.Name(name), let value = value as? String else {
                return nil
            }
            return HeaderField(name, value)
        }
        self.init(status: Status(head.statusCode), headerFields: HeaderFields(fields))
        // The body arrives decoded, so what described its coding would be wrong of it.
        if headerFields[.contentEncoding] != nil {
            headerFields[.contentEncoding] = nil
            headerFields[.contentLength] = nil
        }
    }
}
