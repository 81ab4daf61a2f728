#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request to a ``DataFetcher``, in the terms of HTTP (RFC 9110) regardless of the transport.
///
/// Two requests are equal if an upstream could not tell them apart. Descriptions and reflections do not contain credentials.
///
/// ```swift
/// let data = try JSONEncoder().encode(Order(id: 7, total: 1_300))
/// let update = DataRequest(
///     method: .put,
///     url: url,
///     headerFields: [HeaderField(.contentType, "application/json")],
///     body: data
/// )
/// ```
public struct DataRequest: Hashable, Sendable {
    /// The request method.
    public var method: Method
    /// The target URL.
    public var url: URL
    /// The header fields.
    public var headerFields: HeaderFields
    /// The body, if any.
    public var body: Data?
    /// The number of this attempt, counted from 1. It is not sent and does not affect equality.
    public var attempt = 1
    /// Whether data fetchers must send the request at most once, because its creator retries it and tracks each attempt.
    ///
    /// An `Outbox` sets it. After a 401, the request is nevertheless repeated with renewed credentials, because the upstream
    /// has done nothing. The flag is not sent and does not affect equality.
    public var isSentOnce = false
    /// A function for interim responses (RFC 9110 section 15.2), such as `103 Early Hints`, which servers send before the response.
    ///
    /// A server that passes responses on must pass these on too. A fetcher calls it for each of them, in order, if its client tells
    /// about them; those of `InwardURLSession` and `InwardAsyncHTTPClient` do not. It is not called for responses from a cache, or
    /// for a request that joins another one. It does not affect equality.
    public var onInterimResponse: (@Sendable (DataResponse) -> Void)?

    /// Creates a request; by default, a `GET` request.
    public init(method: Method = .get, url: URL, headerFields: HeaderFields = [], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
    }

    /// Returns whether an upstream could not tell the requests apart.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.headerFields == right.headerFields
            && left.body == right.body
    }

    /// Hashes the parts of the request that determine equality.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
        hasher.combine(headerFields)
        hasher.combine(body)
    }
}

extension DataRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, without user name, password, fragment and the values of query items.
    public var description: String { "\(method) \(url.withoutSecrets)" }

    /// A mirror that contains only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension DataRequest {
    /// A request method of RFC 9110 section 9, or any other.
    public struct Method: Hashable, Sendable, CustomStringConvertible {
        /// The method as sent. Methods are case-sensitive.
        public let rawValue: String

        /// Retrieves the resource.
        public static let get = Self(unchecked: "GET")
        /// Retrieves what `GET` would, without the body.
        public static let head = Self(unchecked: "HEAD")
        /// Passes the body to the resource for processing.
        public static let post = Self(unchecked: "POST")
        /// Replaces the resource with the body.
        public static let put = Self(unchecked: "PUT")
        /// Changes the resource as the body describes (RFC 5789).
        public static let patch = Self(unchecked: "PATCH")
        /// Removes the resource.
        public static let delete = Self(unchecked: "DELETE")
        /// Moves the resource to another URL (RFC 4918).
        public static let move = Self(unchecked: "MOVE")
        /// Retrieves the communication options of the resource.
        public static let options = Self(unchecked: "OPTIONS")

        /// Creates a method with any name; `nil` if the name is not a token of RFC 9110 section 5.6.2.
        public init?(_ name: String) {
            guard name.isToken else { return nil }
            rawValue = name
        }

        private init(unchecked name: String) {
            rawValue = name
        }

        /// Whether the method is safe: its requests do not ask for changes (RFC 9110 section 9.2.1).
        var isSafe: Bool { Self.safeMethods.contains(rawValue) }

        private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

        /// The method as sent.
        public var description: String { rawValue }
    }
}

extension DataRequest {
    /// The reason why a web client must not send the request, as the end of a sentence that begins with the request; `nil` if
    /// the client may send it.
    package var problem: String? {
        guard url.isWebAddress else { return "is not a request for a valid http or https URL" }
        let byteCount = url.absoluteString.utf8.count
        guard byteCount <= Self.maximumAddressBytes else {
            return "has a URL of \(byteCount) bytes, and the maximum is \(Self.maximumAddressBytes)"
        }
        if body != nil, [.get, .head].contains(method) { return "has a body, which \(method) does not allow" }
        return headerFields.first { Self.namesOfFraming.contains($0.name.rawValue.lowercased()) }.map { field in
            "has the header field \(field.name), which only the client may set"
        }
    }

    /// The maximum number of bytes in a URL. RFC 9110 section 4.1 recommends at least 8,000.
    package static let maximumAddressBytes = 8_192

    /// Header fields that delimit messages. A request that set them could smuggle another request in its body.
    private static let namesOfFraming: Set = [
        "connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension URL {
    /// Whether a web client can locate a server by this URL.
    var isWebAddress: Bool {
        ["http", "https"].contains(scheme?.lowercased()) && host(percentEncoded: false)?.isEmpty == false
            && port.map((1...65_535).contains) ?? true
    }
}

extension DataRequest {
    /// Returns a text from which the secrets of this request are removed: the values of sensitive header fields, the parts of
    /// these values, and the parts of the URL that the description omits.
    func removingSecrets(from text: String) -> String {
        // Longest first, so that nothing remains of a secret that contains another. Strings of fewer than four characters are
        // kept, because removing them would break up words.
        (secretsOfHeaderFields + secretsOfAddress).filter { $0.count >= 4 }.sorted { $0.count > $1.count }
            .reduce(text) { text, secret in text.replacing(secret, with: "…") }
    }

    private var secretsOfHeaderFields: [String] {
        headerFields.filter(\.isSensitive).flatMap { field -> [String] in
            let parts = field.value.split(whereSeparator: " ;,\"".contains)
            // A scheme such as `Bearer` precedes the credential itself.
            let credentials = field.name == .authorization && parts.count > 1 ? parts.dropFirst() : parts[...]
            let values = credentials.map { $0.drop { $0 != "=" }.dropFirst() }
            return [field.value] + (credentials + values).map(String.init)
        }
    }

    private var secretsOfAddress: [String] {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [] }
        let user = components.percentEncodedUser.map { user in
            components.percentEncodedPassword.map { "\(user):\($0)@" } ?? "\(user)@"
        }
        let single = [
            user, components.percentEncodedPassword, components.password, components.percentEncodedQuery,
            components.percentEncodedFragment, components.fragment,
        ]
        let values = (components.percentEncodedQueryItems ?? []) + (components.queryItems ?? [])
        return single.compactMap(\.self) + values.compactMap(\.value)
    }
}

extension URL {
    /// The URL for display: without user name, password and fragment, and with only the names of query items, because keys and
    /// signatures travel as values. Long URLs are shortened.
    package var withoutSecrets: String {
        let whole = wholeWithoutSecrets
        guard whole.utf8.count > DataRequest.maximumAddressBytes else { return whole }
        return whole.prefix(Self.shortenedLength) + "…"
    }

    private static let shortenedLength = 200

    private var wholeWithoutSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return "an unreadable URL"
        }
        let names = components.percentEncodedQueryItems?.map { item in
            item.value == nil ? "…" : "\(item.name)=…"
        }
        components.percentEncodedUser = nil
        components.percentEncodedPassword = nil
        components.percentEncodedQuery = nil
        components.percentEncodedFragment = nil
        guard let address = components.string else { return "an unreadable URL" }
        return address + (names.map { "?" + $0.joined(separator: "&") } ?? "")
    }
}
