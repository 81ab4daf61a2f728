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

extension FetchError {
    /// The kinds of failure that a caller can tell apart. More may be added without breaking anybody.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for a `switch` that handles each of them.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case invalidRequest
            case rejected
            case unreachable
            case untrusted
            case timedOut
            case interrupted
            case tooLarge
            case tooManyRedirects
            case unsuccessful
            case unreadable
        }

        /// The kind, to switch over.
        public let code: Code

        /// The task that asked was cancelled.
        public static let cancelled = Self(code: .cancelled)
        /// What the fetcher belonged to has ended, and nothing was sent.
        public static let closed = Self(code: .closed)
        /// The request is not one that this fetcher can answer: another scheme, a path that leads outside.
        public static let invalidRequest = Self(code: .invalidRequest)
        /// A limit on the way to the source was reached, or its circuit is open, and nothing was sent.
        public static let rejected = Self(code: .rejected)
        /// Nobody was reached: no such host, nobody listens there, no way leads there.
        public static let unreachable = Self(code: .unreachable)
        /// Somebody was reached who could not prove to be the one that was meant.
        public static let untrusted = Self(code: .untrusted)
        /// The answer, or its next part, did not come in time.
        public static let timedOut = Self(code: .timedOut)
        /// The connection ended before the answer did.
        public static let interrupted = Self(code: .interrupted)
        /// The answer is larger than the caller allows.
        public static let tooLarge = Self(code: .tooLarge)
        /// One redirect led to another more often than the caller allows.
        public static let tooManyRedirects = Self(code: .tooManyRedirects)
        /// A whole answer came, and its status is not one of success.
        public static let unsuccessful = Self(code: .unsuccessful)
        /// What there is cannot be read: no permission, a broken disk, a damaged source.
        public static let unreadable = Self(code: .unreadable)

        /// The kind's name.
        public var description: String { code.rawValue }
    }
}

/// How often a request was tried, and why no more.
public struct RetryReport: Hashable, Sendable, CustomStringConvertible {
    /// How many attempts were made, at least 1.
    public let attempts: Int
    /// Why no other one was made, as a part of a sentence: `the most allowed`.
    public let ending: String

    /// Says how often a request was tried, and why no more.
    public init(attempts: Int, ending: String) {
        self.attempts = attempts
        self.ending = ending
    }

    /// The number of attempts and why there are no more, such as `3 attempts, the most allowed`.
    public var description: String { "\(attempts) \(attempts == 1 ? "attempt" : "attempts"), \(ending)" }
}

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
