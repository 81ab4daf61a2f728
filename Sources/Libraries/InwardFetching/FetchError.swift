/// Why a ``DataFetcher`` has no whole answer, or why an answer is of no use.
///
/// The credentials of the request do not show in it: its maker's words are searched for them. It is cheap to make, because
/// nothing is put into words before somebody reads it.
public struct FetchError: Error, Hashable, Sendable {
    private struct Contents: Hashable, Sendable {
        let reason: Reason
        let request: DataRequest
        let explanation: String
        var status: DataResponse.Status?
        var retryAfter: RetryAfter?
        var retries: RetryReport?
        var wasSent = true
        var lacksCredentials = false
    }

    /// Apart from the error, which travels through every layer and is to be small.
    private final class Box: Sendable {
        let contents: Contents

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    private let box: Box

    /// Makes an error about a request.
    ///
    /// - Parameters:
    ///   - reason: What kind of failure this is.
    ///   - request: What was asked.
    ///   - explanation: What happened, as the end of a sentence that begins with the request. Credentials of the request
    ///     that appear in it are taken out.
    ///   - retryAfter: When it can help to ask again, if that is known.
    ///   - wasSent: Whether the source may have seen the request; `false` for what went wrong before.
    public init(
        _ reason: Reason,
        request: DataRequest,
        explanation: String,
        retryAfter: RetryAfter? = nil,
        wasSent: Bool = true
    ) {
        self.init(
            Contents(
                reason: reason,
                request: request.withoutBody,
                explanation: explanation,
                retryAfter: retryAfter,
                wasSent: wasSent
            )
        )
    }

    /// Makes the error that an unsuccessful answer to a request is.
    public init(_ response: DataResponse, to request: DataRequest) {
        self.init(
            Contents(
                reason: .unsuccessful,
                request: request.withoutBody,
                explanation: "was answered with \(response.status)",
                status: response.status,
                retryAfter: RetryAfter(response.headerFields),
                retries: response.retries
            )
        )
    }

    private init(_ contents: Contents) {
        box = Box(contents)
    }

    private var contents: Contents { box.contents }

    /// What kind of failure this is.
    public var reason: Reason { contents.reason }
    /// The request as its description shows it: the method, and the address without what may be secret.
    public var request: String { contents.request.description }
    /// The status of the answer, where one came.
    public var status: DataResponse.Status? { contents.status }
    /// When it can help to ask again, if the source or a limit on the way to it said so.
    public var retryAfter: RetryAfter? { contents.retryAfter }
    /// Whether the source may have seen the request. What it came to then is another question, which the reason answers.
    public var wasSent: Bool { contents.wasSent && ![.rejected, .closed, .invalidRequest].contains(reason) }
    /// How often it was tried and why no more; `nil` where a retry was no question.
    public var retries: RetryReport? { contents.retries }

    /// What happened, as the end of a sentence that begins with the request: `was answered with 503`.
    public var explanation: String {
        let words = contents.request.removingSecrets(from: contents.explanation)
        return contents.retries.map { "\(words) (\($0))" } ?? words
    }

    /// Whether the request had no credentials that are valid, because they could not be renewed.
    package var lacksCredentials: Bool { contents.lacksCredentials }

    /// This error as that of a request which was not sent, or was turned away, because no credentials were to be had.
    func lackingCredentials() -> FetchError {
        var contents = contents
        contents.wasSent = false
        contents.lacksCredentials = true
        return FetchError(contents)
    }

    /// This error, with how often it was tried and why no more.
    public func reporting(_ retries: RetryReport) -> FetchError {
        var contents = contents
        contents.retries = retries
        return FetchError(contents)
    }

    /// Whether asking again, with nothing changed, can help. Whether it is safe depends on the request.
    public var canRetry: Bool {
        switch reason.code {
        case .unreachable, .timedOut, .interrupted, .rejected: true
        case .unsuccessful: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0.code) } ?? false
        case .cancelled, .closed, .invalidRequest, .untrusted, .tooLarge, .tooManyRedirects, .unreadable: false
        }
    }

    /// Whether two errors say the same.
    public static func == (left: Self, right: Self) -> Bool { left.contents == right.contents }

    /// Feeds what makes errors equal into a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents)
    }
}

extension DataRequest {
    /// What was sent is not kept for as long as somebody keeps the error.
    fileprivate var withoutBody: DataRequest {
        guard body != nil else { return self }
        var request = self
        request.body = nil
        return request
    }
}

extension FetchError: CustomStringConvertible, CustomReflectable {
    /// The request and what happened, as one sentence without its full stop.
    public var description: String { "\(request) \(explanation)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["reason": reason, "description": description]) }
}
