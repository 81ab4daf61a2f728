public import InwardFetching

/// A request, and what must come back for it.
public struct DataFetcherExchange: Hashable, Sendable {
    /// What is asked.
    public internal(set) var request: DataRequest
    /// What must come back: this status, this body, this address, and these header fields among others. Without a meaning where
    /// the request must fail.
    public internal(set) var response: DataResponse
    /// Why the request must fail; `nil` if it must be answered.
    public let failure: FetchError.Reason?

    /// Names what must come back for a request.
    public init(_ request: DataRequest, _ response: DataResponse) {
        self.request = request
        self.response = response
        failure = nil
    }

    /// Names why a request must fail, such as `.interrupted` where the source ends its answer early.
    public init(_ request: DataRequest, failing failure: FetchError.Reason) {
        self.request = request
        self.failure = failure
        response = DataResponse()
    }

    /// What is wrong with how a fetch of the request ended; nothing if it ended as it must.
    func violations(of result: Result<DataResponse, FetchError>) -> [String] {
        switch (result, failure) {
        case (.success(let answer), nil): violations(of: answer)
        case (.success(let answer), let failure?):
            ["\(request) must fail as \(failure), and was answered with \(answer)."]
        case (.failure(let error), nil):
            ["\(request) must be answered with \(response.status), and failed: \(error)."]
        case (.failure(let error), let failure?):
            error.reason == failure ? [] : ["\(request) must fail as \(failure), and did as \(error.reason)."]
        }
    }

    private func violations(of answer: DataResponse) -> [String] {
        var violations: [String] = []
        if answer.status != response.status {
            violations.append("\(request) must be answered with \(response.status), and was with \(answer.status).")
        }
        if answer.body != response.body {
            violations.append(
                "\(request) must be answered with \(response.body.count) bytes exactly, and was with others "
                    + "(\(answer.body.count) bytes)."
            )
        }
        for field in response.headerFields where answer.headerFields[field.name] != response.headerFields[field.name] {
            let value = answer.headerFields[field.name] ?? "nothing"
            violations.append("The answer to \(request) must say “\(field)”, and says \(value).")
        }
        // An answer may leave out the address that was asked for.
        let address = response.url ?? request.url
        if (answer.url ?? request.url) != address {
            violations.append("The answer to \(request) must come from \(address), and says that it does not.")
        }
        if answer.degradation != nil {
            violations.append("\(request) must be answered itself, and was with something in the place of its answer.")
        }
        return violations
    }
}
