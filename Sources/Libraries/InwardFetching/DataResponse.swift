public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a ``DataFetcher`` answers: a whole answer, whatever its status.
public struct DataResponse: Hashable, Sendable {
    /// How the source took the request.
    public var status: Status
    /// What the source tells about its answer.
    public var headerFields: HeaderFields
    /// The answer itself, whole.
    public var body: Data
    /// Where the answer came from, if that is not where it was asked for: redirects were followed.
    public var url: URL?
    /// From where this answer was given: by the source itself, or out of a memory on the way.
    public var origin: Origin
    /// Why this is not the answer that was asked for but one in its place; `nil` if it is the one.
    public var fallbackReason: FetchError?
    /// How many attempts were made and why they ended. `nil` where retrying was never considered, and for a success that needed no
    /// new credentials.
    public var retries: RetryReport?

    /// Makes an answer; without arguments, one of success that says nothing.
    public init(status: Status = .ok, headerFields: HeaderFields = [], body: Data = Data(), url: URL? = nil) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.url = url
        origin = .upstream
    }
}

extension DataResponse: CustomStringConvertible {
    /// The status, and how many bytes the body has.
    public var description: String { "\(status), \(body.count) bytes" }
}

extension DataResponse {
    /// A status code of RFC 9110 section 15.
    public struct Status: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        /// The code.
        public let code: Int

        /// Makes a status of any code.
        public init(_ code: Int) {
            self.code = code
        }

        /// Makes a status of any code.
        public init(integerLiteral code: Int) {
            self.code = code
        }

        /// The request was done, and the answer says what came of it.
        public static let ok: Self = 200
        /// The request was done, and something new was made.
        public static let created: Self = 201
        /// The request was done, for a part of what is there.
        public static let partialContent: Self = 206
        /// The caller has already what is there.
        public static let notModified: Self = 304
        /// Credentials are wanted, or others.
        public static let unauthorized: Self = 401
        /// Nothing is found at the address.
        public static let notFound: Self = 404
        /// What the address names cannot be used by this method.
        public static let methodNotAllowed: Self = 405
        /// There is no such part of what is there.
        public static let rangeNotSatisfiable: Self = 416

        /// Whether the request was done.
        public var isSuccess: Bool { (200..<300).contains(code) }

        /// The code with its registered phrase, such as `503 Service Unavailable`.
        public var description: String {
            Self.phrases[code].map { "\(code) \($0)" } ?? "status \(code)"
        }

        /// The phrases of the IANA registry of HTTP status codes, for those that a client meets.
        private static let phrases = [
            200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
            300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
            307: "Temporary Redirect", 308: "Permanent Redirect",
            400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
            405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
            408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
            413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
            416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
            422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency", 425: "Too Early",
            426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
            431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
            500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
            508: "Loop Detected", 511: "Network Authentication Required",
        ]
    }
}

extension DataResponse {
    /// Whether the source gave it, for this request: not out of a memory, and not in place of another answer.
    var isOfSource: Bool { origin == .upstream && fallbackReason == nil }
}
