#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is asked of a ``DataFetcher``, in the terms of HTTP (RFC 9110) whether or not it travels by HTTP.
///
/// Two requests are equal when a source could not tell them apart. Descriptions and reflections of a request never show
/// a credential.
public struct DataRequest: Hashable, Sendable {
    /// What is to be done with what the address names.
    public var method: Method
    /// What is asked for.
    public var url: URL
    /// What else the source is told.
    public var headerFields: HeaderFields
    /// What is sent along.
    public var body: Data?
    /// Which try of this request it is, counted from 1. It is not sent, and makes no request another one.
    public var attempt = 1
    /// Whether no data fetcher may send it again that has sent it, because its maker does that and has to know of each attempt. Set
    /// by an `Outbox`. Renewing credentials that were not taken (401) is no exception to it: nothing was done before. It is not
    /// sent, and makes no request another one.
    public var isSentOnce = false

    /// Makes a request; with an address alone, for what is there.
    public init(method: Method = .get, url: URL, headerFields: HeaderFields = [], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
    }

    /// Whether a source could not tell the requests apart.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.headerFields == right.headerFields
            && left.body == right.body
    }

    /// Feeds what makes requests equal into a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
        hasher.combine(headerFields)
        hasher.combine(body)
    }
}

extension DataRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the address, without user name, password, fragment and the values of the query.
    public var description: String { "\(method) \(url.withoutSecrets)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension DataRequest {
    /// A request method of RFC 9110 section 9, or any other.
    public struct Method: Hashable, Sendable, CustomStringConvertible {
        /// The method as it is sent. Methods are case-sensitive.
        public let rawValue: String

        /// Gives what the address names.
        public static let get = Self(unchecked: "GET")
        /// Gives what `GET` would, without the body.
        public static let head = Self(unchecked: "HEAD")
        /// Hands the body to what the address names.
        public static let post = Self(unchecked: "POST")
        /// Puts the body in the place of what the address names.
        public static let put = Self(unchecked: "PUT")
        /// Changes what the address names as the body says (RFC 5789).
        public static let patch = Self(unchecked: "PATCH")
        /// Removes what the address names.
        public static let delete = Self(unchecked: "DELETE")
        /// Gives what the address names another address (RFC 4918).
        public static let move = Self(unchecked: "MOVE")
        /// Tells what can be done with what the address names.
        public static let options = Self(unchecked: "OPTIONS")

        /// Makes a method of any name; `nil` if the name is no token of RFC 9110 section 5.6.2.
        public init?(_ name: String) {
            guard name.isToken else { return nil }
            rawValue = name
        }

        private init(unchecked name: String) {
            rawValue = name
        }

        /// Whether requests by this method ask for nothing to be changed (RFC 9110 section 9.2.1).
        var isSafe: Bool { Self.safeMethods.contains(rawValue) }

        private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

        /// The method as it is sent.
        public var description: String { rawValue }
    }
}

extension DataRequest {
    /// Why a web client must not send this, as the end of a sentence that begins with the request; `nil` if it may.
    package var problem: String? {
        guard url.isWebAddress else { return "is not a request for a web address" }
        let byteCount = url.absoluteString.utf8.count
        guard byteCount <= Self.maximumAddressBytes else {
            return "has an address of \(byteCount) bytes, and \(Self.maximumAddressBytes) are the most allowed"
        }
        if body != nil, [.get, .head].contains(method) { return "has a body, which \(method) has not" }
        return headerFields.first { Self.namesOfFraming.contains($0.name.rawValue.lowercased()) }.map { field in
            "has the header field \(field.name), which belongs to the connection"
        }
    }

    /// How many bytes an address may have. RFC 9110 section 4.1 asks for 8,000 at least.
    package static let maximumAddressBytes = 8_192

    /// What says where a message ends. A request that says it itself could hide another one in its body.
    private static let namesOfFraming: Set = [
        "connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension URL {
    /// Whether a web client can find a server by this address.
    var isWebAddress: Bool {
        ["http", "https"].contains(scheme?.lowercased()) && host(percentEncoded: false)?.isEmpty == false
            && port.map((1...65_535).contains) ?? true
    }
}
