public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A complete response from a ``DataFetcher``, whatever its status.
///
/// ```swift
/// if response.status == .notFound { print("There is no such order.") }
/// let contentType = response.headerFields[.contentType]
/// ```
public struct DataResponse: Hashable, Sendable {
    /// The status.
    public var status: Status
    /// The header fields.
    public var headerFields: HeaderFields
    /// The complete body.
    public var body: Data
    /// The URL of the response if it followed redirects; `nil` if it came from the URL of the request.
    public var url: URL?
    /// Where the response came from: the upstream or a cache.
    public var origin: Origin
    /// The failure that this response is a fallback for; `nil` if it is not a fallback.
    public var fallbackReason: FetchError?
    /// The number of attempts and why they ended; `nil` if no retry was considered. A successful response has no report, even
    /// after retries, unless the credentials had to be renewed.
    public var retries: RetryReport?

    /// Creates a response; by default, an empty one with status 200.
    public init(status: Status = .ok, headerFields: HeaderFields = [], body: Data = Data(), url: URL? = nil) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.url = url
        origin = .upstream
    }

    /// Creates a response from what an HTTP client reports, dropping fields with invalid names.
    ///
    /// - Parameters:
    ///   - status: The code of the status.
    ///   - fields: The names and values of the header fields.
    ///   - body: The complete body.
    ///   - isDecoded: Returns whether the client has decoded a body with the given content coding, whose name is in lower case.
    @inlinable
    package init(
        status: Int,
        fields: some Sequence<(name: String, value: String)>,
        body: Data,
        isDecoded: (_ coding: String) -> Bool
    ) {
        var received = HeaderFields()
        received.reserveCapacity(fields.underestimatedCount)
        for (name, value) in fields {
            if let name = HeaderField.Name(name) { received.append(HeaderField(name, value)) }
        }
        self.init(status: Status(status), headerFields: received, body: body)
        // The fields that describe the coding do not apply to a decoded body.
        if let coding = headerFields[.contentEncoding], isDecoded(coding.lowercased()) {
            headerFields[.contentEncoding] = nil
            headerFields[.contentLength] = nil
        }
    }
}

extension DataResponse: CustomStringConvertible {
    /// The status and the number of bytes in the body.
    public var description: String { "\(status), \(body.count) bytes" }
}

extension DataResponse {
    /// A status code of RFC 9110 section 15.
    public struct Status: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
        /// The code.
        public let code: Int

        /// Creates a status with any code.
        public init(_ code: Int) {
            self.code = code
        }

        /// Creates a status with any code.
        public init(integerLiteral code: Int) {
            self.code = code
        }

        /// The request succeeded.
        public static let ok: Self = 200
        /// The request succeeded and created a resource.
        public static let created: Self = 201
        /// The response contains part of the resource.
        public static let partialContent: Self = 206
        /// The caller's copy is current.
        public static let notModified: Self = 304
        /// The request lacks valid credentials.
        public static let unauthorized: Self = 401
        /// The resource does not exist.
        public static let notFound: Self = 404
        /// The resource does not support the method.
        public static let methodNotAllowed: Self = 405
        /// The requested range lies outside the resource.
        public static let rangeNotSatisfiable: Self = 416

        /// Whether the request succeeded (200 to 299).
        public var isSuccess: Bool { (200..<300).contains(code) }

        /// The code with its registered phrase, such as `503 Service Unavailable`.
        public var description: String {
            phrase.map { "\(code) \($0)" } ?? "status \(code)"
        }

        /// The registered phrase, such as `Service Unavailable`; `nil` if the code is not in the list below.
        var phrase: String? { Self.phrases[code] }

        /// The phrases from the IANA registry of HTTP status codes that a client is likely to receive.
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
    /// Whether the upstream sent the response for this request, rather than a cache or a fallback.
    var isOfSource: Bool { origin == .upstream && fallbackReason == nil }
}
