#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error that explains why there is no complete response to a request, or why a response cannot be used.
///
/// Its texts do not contain the credentials of the request. They are formatted when they are read, so errors are cheap to
/// create.
///
/// ```swift
/// do {
///     let order = try await client.fetchData(from: url)
///     print(order.count)
/// } catch where error.canRetry {
///     print("Try again later: \(error)")
/// }
/// ```
public struct FetchError: Error, Hashable, Sendable {
    private struct Contents: Hashable, Sendable {
        let reason: Reason
        let request: DataRequest
        let explanation: String
        var status: DataResponse.Status?
        var retryAfter: RetryAfter?
        var retries: RetryReport?
        var wasSent = true
        var lack: Lack?
        var refusal: AddressRefusal?
    }

    /// Why a request had no valid credentials.
    private enum Lack {
        case notRenewed
        case refused
    }

    /// Boxed to keep the error small, because it travels through every layer.
    private final class Box: Sendable {
        let contents: Contents

        init(_ contents: Contents) {
            self.contents = contents
        }
    }

    private let box: Box

    /// The kinds of failure that never reach an upstream.
    private static let unsentReasons: Set<Reason> = [.rejected, .closed, .invalidRequest, .addressRefused]

    /// Creates an error about a request.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - request: The request.
    ///   - explanation: What happened, as the end of a sentence that begins with the request. Credentials of the request are
    ///     removed.
    ///   - retryAfter: The earliest time for a retry, if known.
    ///   - wasSent: Whether the upstream may have seen the request; `false` for failures before sending.
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

    /// Creates the error of a request that was not sent because its address was refused.
    init(_ reason: Reason, request: DataRequest, explanation: String, refusal: AddressRefusal) {
        var contents = Contents(reason: reason, request: request.withoutBody, explanation: explanation)
        contents.refusal = refusal
        self.init(contents)
    }

    /// Creates an error from an unsuccessful response.
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

    /// The kind of failure.
    public var reason: Reason { contents.reason }
    /// The request: its method, and its URL without possible secrets.
    public var request: String { contents.request.description }
    /// The status of the response, if there was one.
    public var status: DataResponse.Status? { contents.status }
    /// The earliest time for a retry, if the upstream or a limit on the way specified it.
    public var retryAfter: RetryAfter? { contents.retryAfter }
    /// Whether the upstream may have seen the request. This says nothing about what it did; see ``reason``.
    public var wasSent: Bool { contents.wasSent && !Self.unsentReasons.contains(reason) }
    /// The rule by which an ``AddressPolicy`` refused the address of the request or of a redirect; `nil` for other reasons.
    ///
    /// ```swift
    /// func rule(of error: FetchError) -> AddressRefusal.Rule? { error.addressRefusal?.rule }
    /// ```
    public var addressRefusal: AddressRefusal? { contents.refusal }
    /// The number of attempts and why they ended; `nil` if no retry was considered.
    public var retries: RetryReport? { contents.retries }

    /// What happened, as the end of a sentence that begins with the request: `was answered with 503`.
    public var explanation: String {
        let words = contents.request.removingSecrets(from: contents.explanation)
        return contents.retries.map { "\(words) (\($0))" } ?? words
    }

    /// Whether the request lacked valid credentials. The reason, status and explanation are then those of the failed renewal.
    package var lacksCredentials: Bool { contents.lack != nil }
    /// Whether there will be no valid credentials until the user signs in again.
    package var needsSignIn: Bool { contents.lack == .refused }

    /// Returns this error for a request without valid credentials, which was not sent or was answered with 401.
    ///
    /// - Parameter forGood: Whether the user must sign in again.
    /// - Returns: The error.
    func lackingCredentials(forGood: Bool = false) -> FetchError {
        var contents = contents
        contents.wasSent = false
        contents.lack = forGood ? .refused : .notRenewed
        return FetchError(contents)
    }

    /// Returns this error with a report on its attempts.
    public func reporting(_ retries: RetryReport) -> FetchError {
        var contents = contents
        contents.retries = retries
        return FetchError(contents)
    }

    /// Whether the same request may succeed later. Whether it is safe to repeat depends on the request.
    public var canRetry: Bool {
        if needsSignIn { return false }
        return switch reason.code {
        case .unreachable, .timedOut, .interrupted, .rejected: true
        case .unsuccessful: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0.code) } ?? false
        case .cancelled, .closed, .invalidRequest, .addressRefused, .untrusted, .tooLarge, .tooManyRedirects,
            .unreadable:
            false
        }
    }

    /// Returns whether two errors have the same contents.
    public static func == (left: Self, right: Self) -> Bool { left.contents == right.contents }

    /// Hashes the contents of the error.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents)
    }
}

extension DataRequest {
    /// The request without its body, so that errors do not retain request bodies.
    fileprivate var withoutBody: DataRequest {
        guard body != nil else { return self }
        var request = self
        request.body = nil
        return request
    }
}

extension FetchError: CustomStringConvertible, CustomReflectable {
    /// The request and what happened, as one sentence without its period.
    public var description: String { "\(request) \(explanation)" }

    /// A mirror that contains only the reason and the description.
    public var customMirror: Mirror { Mirror(self, children: ["reason": reason, "description": description]) }
}

extension FetchError {
    /// The kinds of failure. Future versions may add more.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The kinds as a closed enumeration, for an exhaustive `switch`.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            case cancelled
            case closed
            case invalidRequest
            case addressRefused
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

        /// The kind, for a `switch`.
        public let code: Code

        /// The calling task was cancelled.
        public static let cancelled = Self(code: .cancelled)
        /// The owner of the fetcher, or its credentials, was closed. The request was not sent.
        public static let closed = Self(code: .closed)
        /// The fetcher cannot answer this request, for example because of its scheme or because its path leads outside a
        /// directory.
        public static let invalidRequest = Self(code: .invalidRequest)
        /// An ``AddressPolicy`` refused the address of the request, or that of a redirect. Nothing was sent there. See
        /// ``FetchError/addressRefusal``.
        public static let addressRefused = Self(code: .addressRefused)
        /// A limit, an open circuit or unusable credentials kept the request from being sent.
        public static let rejected = Self(code: .rejected)
        /// The upstream could not be reached: the host is unknown or does not listen, or there is no route to it.
        public static let unreachable = Self(code: .unreachable)
        /// The upstream was reached but could not prove its identity.
        public static let untrusted = Self(code: .untrusted)
        /// The response, or its next part, did not arrive in time.
        public static let timedOut = Self(code: .timedOut)
        /// The connection ended before the response did.
        public static let interrupted = Self(code: .interrupted)
        /// The response is larger than the caller allows.
        public static let tooLarge = Self(code: .tooLarge)
        /// The request was redirected more often than allowed.
        public static let tooManyRedirects = Self(code: .tooManyRedirects)
        /// The response is complete but has an unsuccessful status.
        public static let unsuccessful = Self(code: .unsuccessful)
        /// The data cannot be read: missing permission, a disk error, or damaged data.
        public static let unreadable = Self(code: .unreadable)

        /// The name of the kind.
        public var description: String { code.rawValue }
    }
}

/// The earliest time for a retry (RFC 9110 section 10.2.3).
///
/// ```swift
/// if case .delay(let delay) = RetryAfter(response.headerFields) { print("Try again in \(delay).") }
/// ```
public enum RetryAfter: Hashable, Sendable {
    /// A delay, which is never negative.
    case delay(Duration)
    /// A date, by the upstream's clock.
    case date(Date)

    /// Reads the `Retry-After` field of a response; `nil` if it is missing or invalid.
    ///
    /// If the response has a `Date` field, a date becomes a delay relative to it, so that clock differences do not matter.
    public init?(_ fields: HeaderFields) {
        guard let text = fields.values(of: .retryAfter).first else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // The delay is capped at a year, which also covers numbers that overflow.
            self = .delay(.seconds(min(Int64(text) ?? .max, Self.secondsOfAYear)))
            return
        }
        let now = fields.values(of: .date).first.flatMap { Date(httpDate: $0) }
        if let date = Date(httpDate: text, near: now) {
            self =
                now.map { .delay(.seconds(min(max(0, date.timeIntervalSince($0)), Double(Self.secondsOfAYear)))) }
                ?? .date(date)
        } else {
            return nil
        }
    }

    /// Returns the delay, counted from a time. Only a date needs the time.
    func delay(from now: @autoclosure () -> Date) -> Duration {
        switch self {
        case .delay(let delay): delay
        // Limited to a year, because the date may be too far away for a duration.
        case .date(let date): .seconds(min(max(0, date.timeIntervalSince(now())), Double(Self.secondsOfAYear)))
        }
    }

    private static let secondsOfAYear: Int64 = 31_536_000
}

/// The number of attempts for a request, and why they ended.
///
/// ```swift
/// if let retries = response.retries { print(retries) }  // 3 attempts, the maximum
/// ```
public struct RetryReport: Hashable, Sendable, CustomStringConvertible {
    /// The number of attempts, at least 1.
    public let attempts: Int
    /// The reason why there were no more attempts, as part of a sentence: `the maximum`.
    public let ending: String

    /// Creates a report.
    public init(attempts: Int, ending: String) {
        self.attempts = attempts
        self.ending = ending
    }

    /// The number of attempts and why they ended, such as `3 attempts, the maximum`.
    public var description: String { "\(attempts) \(attempts == 1 ? "attempt" : "attempts"), \(ending)" }
}

extension Result<DataResponse, FetchError> {
    /// Whether the upstream may have seen the request.
    var wasSent: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.wasSent
        }
    }

    /// Returns the error of this outcome if it is unknown whether a change took effect.
    func uncertainty(of request: DataRequest) -> FetchError? {
        guard ![.get, .head].contains(request.method) else { return nil }
        switch self {
        case .success(let response):
            return response.status.leavesOutcomeUnknown ? FetchError(response, to: request) : nil
        case .failure(let error):
            return error.leavesOutcomeUnknown ? error : nil
        }
    }

    /// Returns the outcome to report if this is the outcome of the last attempt. An earlier uncertain outcome takes precedence
    /// unless this attempt succeeded or is itself uncertain. No other failure settles the uncertainty, not even a 409, because
    /// the earlier attempt may still be under way.
    func regarding(_ uncertainty: FetchError?, of request: DataRequest) -> Self {
        guard let uncertainty, self.uncertainty(of: request) == nil else { return self }
        if case .success(let response) = self, response.status.isSuccess { return self }
        return .failure(uncertainty)
    }
}

extension FetchError {
    /// Whether the request may have reached the upstream and taken effect.
    package var leavesOutcomeUnknown: Bool {
        guard wasSent else { return false }
        return switch reason.code {
        case .timedOut, .interrupted, .tooLarge, .tooManyRedirects: true
        case .unsuccessful: status?.leavesOutcomeUnknown ?? true
        case .cancelled, .closed, .invalidRequest, .addressRefused, .rejected, .unreachable, .untrusted, .unreadable:
            false
        }
    }
}

extension DataResponse.Status {
    /// Whether the request may have taken effect despite this response.
    ///
    /// An upstream may fail after it made the change (500), and a gateway may lose the upstream or stop waiting for it (502,
    /// 503, 504). The statuses 307, 308, 4xx, 501, 505 and 511 mean that the upstream did not begin.
    package var leavesOutcomeUnknown: Bool {
        !isSuccess && ![307, 308, 501, 505, 511].contains(code) && !(400..<500).contains(code)
    }
}
