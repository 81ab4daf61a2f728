extension Result<DataResponse, FetchError> {
    /// The error, if it leaves open whether a request that changes something was done.
    func uncertainty(of request: DataRequest) -> FetchError? {
        guard ![.get, .head].contains(request.method), case .failure(let error) = self, error.wasSent
        else { return nil }
        switch error.reason.code {
        case .timedOut, .interrupted, .tooLarge, .tooManyRedirects: return error
        case .cancelled, .closed, .invalidRequest, .rejected, .unreachable, .untrusted, .unsuccessful, .unreadable:
            return nil
        }
    }

    /// What to say of several attempts of which this is the last outcome: that one before may have been done, unless the last
    /// answer settles it. That nothing was sent at last, for example, does not.
    func regarding(_ uncertainty: FetchError?) -> Self {
        guard let uncertainty else { return self }
        switch self {
        case .success(let response) where !response.status.saysNothingOfEarlierAttempts: return self
        case .success, .failure: return .failure(uncertainty)
        }
    }
}

extension DataResponse.Status {
    /// Whether the source says no more than that it does not serve now.
    fileprivate var saysNothingOfEarlierAttempts: Bool { code >= 500 || [408, 425, 429].contains(code) }
}
