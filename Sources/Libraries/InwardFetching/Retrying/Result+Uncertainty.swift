extension Result<DataResponse, FetchError> {
    /// Whether the source may have seen the request.
    var wasSent: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.wasSent
        }
    }

    /// The error, if it leaves open whether a request that changes something was done.
    func uncertainty(of request: DataRequest) -> FetchError? {
        guard ![.get, .head].contains(request.method) else { return nil }
        switch self {
        case .success(let response):
            return response.status.leavesOutcomeUnknown ? FetchError(response, to: request) : nil
        case .failure(let error):
            return error.leavesOutcomeUnknown ? error : nil
        }
    }

    /// What to say of several attempts of which this is the last outcome: that an earlier one may have been done, unless this one was
    /// done or leaves that open itself. A refusal does not settle it (409 least of all): the earlier attempt may still be under way.
    func regarding(_ uncertainty: FetchError?, of request: DataRequest) -> Self {
        guard let uncertainty, self.uncertainty(of: request) == nil else { return self }
        if case .success(let response) = self, response.status.isSuccess { return self }
        return .failure(uncertainty)
    }
}

extension FetchError {
    /// Whether the request may have reached its source and been done there.
    package var leavesOutcomeUnknown: Bool {
        guard wasSent else { return false }
        return switch reason.code {
        case .timedOut, .interrupted, .tooLarge, .tooManyRedirects: true
        case .unsuccessful: status?.leavesOutcomeUnknown ?? true
        case .cancelled, .closed, .invalidRequest, .rejected, .unreachable, .untrusted, .unreadable: false
        }
    }
}

extension DataResponse.Status {
    /// Whether a request that was answered with this may have been done all the same.
    ///
    /// A source that failed may have failed after it was done (500), and a gateway answers so when it has lost its source or waits no
    /// longer (502, 503, 504). These say that nothing was begun: 307 and 308, all of 4xx, 501, 505 and 511.
    package var leavesOutcomeUnknown: Bool {
        !isSuccess && ![307, 308, 501, 505, 511].contains(code) && !(400..<500).contains(code)
    }
}
