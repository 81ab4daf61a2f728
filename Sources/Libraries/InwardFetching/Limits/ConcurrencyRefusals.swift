/// Why a ``ConcurrencyLimiter`` lets requests not go, put into words once for all of them.
struct ConcurrencyRefusals: Sendable {
    private let fullness: String
    private let shedding: String
    private let impatience: String

    init(_ limit: ConcurrencyLimit, capacity: Int, patience: Duration?) {
        let underWay =
            limit.isAdaptive
            ? "as many requests are under way as the source bears"
            : limit.count == 1 ? "1 request is under way" : "\(limit.count) requests are under way"
        let waiting = capacity == 0 ? "" : capacity == 1 ? " and 1 waits" : " and \(capacity) wait"
        fullness = "was not sent: \(underWay)\(waiting), the most allowed"
        shedding =
            "was not sent: one of higher priority took its place, because \(underWay)\(waiting), the most allowed"
        impatience = "was not sent: \(underWay), and it waited for \(patience ?? .zero), the longest allowed"
    }

    func full(_ request: DataRequest) -> FetchError { FetchError(.rejected, request: request, explanation: fullness) }

    func shed(_ request: DataRequest) -> FetchError { FetchError(.rejected, request: request, explanation: shedding) }

    func impatient(_ request: DataRequest) -> FetchError {
        FetchError(.rejected, request: request, explanation: impatience)
    }

    func late(_ request: DataRequest) -> FetchError {
        FetchError(
            .timedOut,
            request: request,
            explanation: "was not sent: there was no room before its deadline",
            wasSent: false
        )
    }

    func cancelled(_ request: DataRequest) -> FetchError {
        FetchError(
            .cancelled,
            request: request,
            explanation: "was cancelled before there was room to send it",
            wasSent: false
        )
    }
}
