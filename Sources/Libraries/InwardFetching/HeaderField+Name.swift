extension HeaderField {
    /// The name of a header field. Names that differ in case alone are equal (RFC 9110 section 5.1).
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The name in the case it was written.
        public let rawValue: String
        private let folded: String

        /// Makes a name; `nil` if it is no token of RFC 9110 section 5.6.2.
        public init?(_ name: String) {
            guard name.isToken else { return nil }
            self.init(unchecked: name)
        }

        private init(unchecked name: String) {
            rawValue = name
            folded = name.lowercased()
        }

        /// Whether two names differ in case at most.
        public static func == (left: Self, right: Self) -> Bool { left.folded == right.folded }

        /// Feeds what makes names equal into a hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(folded) }

        /// The name in the case it was written.
        public var description: String { rawValue }

        /// Whether fields of this name carry credentials by their definition.
        var carriesCredentials: Bool { Self.credentialNames.contains(self) }

        private static let credentialNames: Set<Self> = [
            .authorization, .cookie, .proxyAuthorization, .setCookie,
            Self(unchecked: "X-API-Key"), Self(unchecked: "X-Auth-Token"), Self(unchecked: "X-Amz-Security-Token"),
        ]
    }
}

extension HeaderField.Name {
    /// For how many seconds caches on the way have held the answer.
    public static let age = Self(unchecked: "Age")
    /// What may come back.
    public static let accept = Self(unchecked: "Accept")
    /// How the body may be encoded.
    public static let acceptEncoding = Self(unchecked: "Accept-Encoding")
    /// What can be done with what the address names.
    public static let allow = Self(unchecked: "Allow")
    /// The caller's credentials.
    public static let authorization = Self(unchecked: "Authorization")
    /// What caches on the way may do.
    public static let cacheControl = Self(unchecked: "Cache-Control")
    /// How the body is encoded.
    public static let contentEncoding = Self(unchecked: "Content-Encoding")
    /// How many bytes the body has.
    public static let contentLength = Self(unchecked: "Content-Length")
    /// Which part of all there is the body is.
    public static let contentRange = Self(unchecked: "Content-Range")
    /// What the body is.
    public static let contentType = Self(unchecked: "Content-Type")
    /// What the source remembers the caller by.
    public static let cookie = Self(unchecked: "Cookie")
    /// When the answer was made, by the source's clock.
    public static let date = Self(unchecked: "Date")
    /// Where something is to be moved or copied to (RFC 4918).
    public static let destination = Self(unchecked: "Destination")
    /// Which version the answer is.
    public static let etag = Self(unchecked: "ETag")
    /// Which host is meant.
    public static let host = Self(unchecked: "Host")
    /// What a source knows the repeats of a request by, so that it does once what is asked more than once.
    public static let idempotencyKey = Self(unchecked: "Idempotency-Key")
    /// When the version was made that the caller has.
    public static let ifModifiedSince = Self(unchecked: "If-Modified-Since")
    /// Which versions the caller has.
    public static let ifNoneMatch = Self(unchecked: "If-None-Match")
    /// Which version a part is wanted of; of another, all is wanted.
    public static let ifRange = Self(unchecked: "If-Range")
    /// When the version was made that the answer is.
    public static let lastModified = Self(unchecked: "Last-Modified")
    /// Where something is, or was made.
    public static let location = Self(unchecked: "Location")
    /// Whether what is there already may be replaced (RFC 4918).
    public static let overwrite = Self(unchecked: "Overwrite")
    /// The caller's credentials for a proxy.
    public static let proxyAuthorization = Self(unchecked: "Proxy-Authorization")
    /// Which part of all there is the caller wants.
    public static let range = Self(unchecked: "Range")
    /// When to ask again.
    public static let retryAfter = Self(unchecked: "Retry-After")
    /// What the source wants to remember the caller by.
    public static let setCookie = Self(unchecked: "Set-Cookie")
    /// Which fields of the request the answer differs by.
    public static let vary = Self(unchecked: "Vary")
}
