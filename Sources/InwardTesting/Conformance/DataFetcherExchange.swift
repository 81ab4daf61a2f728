public import InterfaceAdapters

/// A request, and what must come back for it.
public struct DataFetcherExchange: Hashable, Sendable {
    /// What is asked.
    public internal(set) var request: DataRequest
    /// What must come back: this status, this body, and these header fields among others.
    public internal(set) var response: DataResponse

    /// Names what must come back for a request.
    public init(_ request: DataRequest, _ response: DataResponse) {
        self.request = request
        self.response = response
    }

    /// What is wrong with an answer to the request; nothing if it is as it must be.
    func violations(of answer: DataResponse) -> [String] {
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
        return violations
    }
}
