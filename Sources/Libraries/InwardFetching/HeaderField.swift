#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A header field.
///
/// The value of a sensitive field does not appear in descriptions and reflections, and is not sent to another origin.
///
/// ```swift
/// let accept = HeaderField(.accept, "application/json")
/// let key = HeaderField(HeaderField.Name("X-Partner-Key")!, "…", isSensitive: true)
/// ```
public struct HeaderField: Hashable, Sendable {
    /// The name.
    public let name: Name
    /// The value.
    public let value: String
    /// Whether the value is a credential or equally sensitive.
    public let isSensitive: Bool

    /// Creates a field.
    ///
    /// Carriage returns, line feeds and NULs in the value become spaces, because they could end the field and begin another.
    /// White space at the ends is removed (RFC 9110 section 5.5).
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - isSensitive: Whether the value is a credential; by default, `true` if fields of this name are known to carry one.
    public init(_ name: Name, _ value: String, isSensitive: Bool? = nil) {
        self.name = name
        self.value = Self.sanitized(value)
        self.isSensitive = isSensitive ?? name.carriesCredentials
    }

    /// Creates a field of this module, whose value needs no checks and is not sensitive.
    init(made name: Name, _ value: String) {
        self.name = name
        self.value = value
        isSensitive = false
    }

    private static func sanitized(_ value: String) -> String {
        let isClean = !value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
        // Most values are clean and returned unchanged.
        if isClean, !(value.utf8.first.map(\.isWhiteSpace) ?? false), !(value.utf8.last.map(\.isWhiteSpace) ?? false) {
            return value
        }
        var bytes = value.utf8.map { byte in [0x00, 0x0A, 0x0D].contains(byte) ? 0x20 : byte }[...]
        while let first = bytes.first, first.isWhiteSpace { bytes.removeFirst() }
        while let last = bytes.last, last.isWhiteSpace { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

}

extension HeaderField: CustomStringConvertible, CustomReflectable {
    /// The field as sent, with a sensitive value redacted.
    public var description: String { "\(name): \(isSensitive ? "…" : value)" }

    /// A mirror that contains only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HeaderField {
    /// The name of a header field. Names are compared case-insensitively (RFC 9110 section 5.1).
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The name in its original case.
        public let rawValue: String
        private let folded: String
        /// A number that differs for almost all unequal names. It is compared first, because that takes no count of references.
        let key: UInt64

        /// Creates a name; `nil` if the text is not a token of RFC 9110 section 5.6.2.
        public init?(_ name: String) {
            guard name.isToken else { return nil }
            self.init(unchecked: name)
        }

        private init(unchecked name: String) {
            rawValue = name
            folded = name.lowercased()
            // The function FNV-1a. Names that were made to have the same key are only slower to compare.
            key = folded.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }

        /// Returns whether two names are equal, ignoring case.
        public static func == (left: Self, right: Self) -> Bool {
            left.key == right.key && left.folded == right.folded
        }

        /// Hashes the name, ignoring case.
        public func hash(into hasher: inout Hasher) { hasher.combine(folded) }

        /// The name in its original case.
        public var description: String { rawValue }

        /// The number of bytes.
        var length: Int { folded.utf8.count }

        /// Whether fields of this name carry credentials by definition.
        var carriesCredentials: Bool { Self.credentialKeys.contains(key) && Self.credentialNames.contains(self) }

        private static let credentialNames = [
            authorization, cookie, proxyAuthorization, setCookie,
            Self(unchecked: "X-API-Key"), Self(unchecked: "X-Auth-Token"), Self(unchecked: "X-Amz-Security-Token"),
        ]

        // Compared first, because every field of every response is checked, and almost none carries credentials.
        private static let credentialKeys = credentialNames.map(\.key)
    }
}

extension HeaderField.Name {
    /// The number of seconds for which caches on the way have held the response.
    public static let age = Self(unchecked: "Age")
    /// The acceptable media types of the response.
    public static let accept = Self(unchecked: "Accept")
    /// The acceptable character encodings of the response.
    public static let acceptCharset = Self(unchecked: "Accept-Charset")
    /// The acceptable encodings of the response.
    public static let acceptEncoding = Self(unchecked: "Accept-Encoding")
    /// The preferred languages of the response.
    public static let acceptLanguage = Self(unchecked: "Accept-Language")
    /// The methods that the resource supports.
    public static let allow = Self(unchecked: "Allow")
    /// The caller's credentials.
    public static let authorization = Self(unchecked: "Authorization")
    /// The directives for caches.
    public static let cacheControl = Self(unchecked: "Cache-Control")
    /// What caches did with the request (RFC 9211).
    public static let cacheStatus = Self(unchecked: "Cache-Status")
    /// The tags by which the response can be removed from caches.
    public static let cacheTag = Self(unchecked: "Cache-Tag")
    /// The directives for shared caches, in place of `Cache-Control` (RFC 9213).
    public static let cdnCacheControl = Self(unchecked: "CDN-Cache-Control")
    /// The encoding of the body.
    public static let contentEncoding = Self(unchecked: "Content-Encoding")
    /// The number of bytes in the body.
    public static let contentLength = Self(unchecked: "Content-Length")
    /// Where a page may load scripts, images and other content from (W3C Content Security Policy).
    public static let contentSecurityPolicy = Self(unchecked: "Content-Security-Policy")
    /// Whether clients may guess another media type than that of `Content-Type` (WHATWG Fetch).
    public static let contentTypeOptions = Self(unchecked: "X-Content-Type-Options")
    /// The URL of the representation in the body.
    public static let contentLocation = Self(unchecked: "Content-Location")
    /// The range of the resource that the body contains.
    public static let contentRange = Self(unchecked: "Content-Range")
    /// The media type of the body.
    public static let contentType = Self(unchecked: "Content-Type")
    /// The cookies that the caller returns to the upstream.
    public static let cookie = Self(unchecked: "Cookie")
    /// The time at which the response was created, by the upstream's clock.
    public static let date = Self(unchecked: "Date")
    /// The target URL of a move or copy (RFC 4918).
    public static let destination = Self(unchecked: "Destination")
    /// The version of the resource in the response.
    public static let etag = Self(unchecked: "ETag")
    /// The time at which the response becomes stale.
    public static let expires = Self(unchecked: "Expires")
    /// The host that the request is for.
    public static let host = Self(unchecked: "Host")
    /// A key by which an upstream recognizes repetitions of a request, so that the request takes effect only once.
    public static let idempotencyKey = Self(unchecked: "Idempotency-Key")
    /// The version that the resource must still have for a write to take effect.
    public static let ifMatch = Self(unchecked: "If-Match")
    /// The modification time of the caller's copy.
    public static let ifModifiedSince = Self(unchecked: "If-Modified-Since")
    /// The versions that the caller has.
    public static let ifNoneMatch = Self(unchecked: "If-None-Match")
    /// The version that the requested range must belong to. For any other version, the response contains the whole resource.
    public static let ifRange = Self(unchecked: "If-Range")
    /// The time since which the resource must not have changed for a write to take effect.
    public static let ifUnmodifiedSince = Self(unchecked: "If-Unmodified-Since")
    /// The modification time of the resource.
    public static let lastModified = Self(unchecked: "Last-Modified")
    /// Links to related resources (RFC 8288).
    public static let link = Self(unchecked: "Link")
    /// The URL of a redirect or of a created resource.
    public static let location = Self(unchecked: "Location")
    /// Whether an existing target may be replaced (RFC 4918).
    public static let overwrite = Self(unchecked: "Overwrite")
    /// The obsolete form of `Cache-Control: no-cache`.
    public static let pragma = Self(unchecked: "Pragma")
    /// The caller's credentials for a proxy.
    public static let proxyAuthorization = Self(unchecked: "Proxy-Authorization")
    /// The range of the resource that the caller requests.
    public static let range = Self(unchecked: "Range")
    /// The earliest time for a retry.
    public static let retryAfter = Self(unchecked: "Retry-After")
    /// A cookie that the caller should store.
    public static let setCookie = Self(unchecked: "Set-Cookie")
    /// The request fields that the response depends on.
    public static let vary = Self(unchecked: "Vary")

    // Fields that concern one connection or one proxy (RFC 9110 section 7.6.1, RFC 9111 section 3.1).
    static let connection = Self(unchecked: "Connection")
    static let keepAlive = Self(unchecked: "Keep-Alive")
    static let proxyAuthenticate = Self(unchecked: "Proxy-Authenticate")
    static let proxyAuthenticationInfo = Self(unchecked: "Proxy-Authentication-Info")
    static let proxyConnection = Self(unchecked: "Proxy-Connection")
    static let te = Self(unchecked: "TE")
    static let trailer = Self(unchecked: "Trailer")
    static let transferEncoding = Self(unchecked: "Transfer-Encoding")
    static let upgrade = Self(unchecked: "Upgrade")
}

/// An ordered list of header fields. Names may repeat.
///
/// ```swift
/// var fields: HeaderFields = [HeaderField(.accept, "application/json")]
/// fields[.cacheControl] = "no-cache"
/// print(fields[.accept] ?? "any type")
/// ```
public struct HeaderFields: Hashable, Sendable {
    // Read through its span, because iteration copies fields.
    fileprivate(set) var fields: [HeaderField] = []

    /// Creates an empty list of header fields.
    public init() {}

    /// Creates a list of the given header fields.
    public init(_ fields: some Sequence<HeaderField>) {
        self.fields = Array(fields)
    }

    /// The value of the fields with a name; `nil` if there are none.
    ///
    /// Reading joins the values of repeated fields with commas (RFC 9110 section 5.3); ``values(of:)`` returns them separately.
    /// Setting a value replaces all fields with the name; setting `nil` removes them.
    ///
    /// - Complexity: O(n) in the number of fields.
    public subscript(name: HeaderField.Name) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append(HeaderField(name, newValue)) }
        }
    }

    /// Returns the values of all fields with a name, in order.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func values(of name: HeaderField.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Returns the value of the first field with a name.
    func firstValue(of name: HeaderField.Name) -> String? {
        fields.span.firstIndex(of: name).map { fields[$0].value }
    }

    /// Calls a function with the value of each field with a name, without copying the others.
    func forEachValue(of name: HeaderField.Name, _ read: (String) -> Void) {
        let fields = fields.span
        var next = fields.firstIndex(of: name)
        while let index = next {
            read(fields[index].value)
            next = fields.firstIndex(of: name, from: index + 1)
        }
    }

    /// Returns whether there is a field with a name.
    func contains(_ name: HeaderField.Name) -> Bool { fields.span.firstIndex(of: name) != nil }

    /// Whether any field carries credentials or is equally sensitive.
    var haveCredentials: Bool { contains { $0.isSensitive || $0.name.carriesCredentials } }

    /// Makes room for a number of fields, so that appending them allocates memory once.
    @usableFromInline
    package mutating func reserveCapacity(_ count: Int) {
        fields.reserveCapacity(count)
    }

    /// Appends a field, even if its name is already present.
    public mutating func append(_ field: HeaderField) {
        fields.append(field)
    }

    /// Returns the list with two more fields. This allocates memory once.
    func appending(_ first: HeaderField, _ second: HeaderField) -> Self {
        var longer = Self()
        longer.fields.reserveCapacity(fields.count + 2)
        longer.fields.append(contentsOf: fields)
        longer.fields.append(first)
        longer.fields.append(second)
        return longer
    }

    /// Removes all fields that satisfy a condition.
    ///
    /// - Complexity: O(n) in the number of fields.
    public mutating func removeAll(where condition: (HeaderField) -> Bool) {
        fields.removeAll(where: condition)
    }
}

extension Span<HeaderField> {
    /// Returns the position of the first field with a name, from another position on.
    func firstIndex(of name: HeaderField.Name, from start: Int = 0) -> Int? {
        for index in start..<count where self[index].name == name { return index }
        return nil
    }
}

extension HeaderFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position, which must be at least ``startIndex`` and less than ``endIndex``.
    public subscript(position: Int) -> HeaderField { fields[position] }
}

extension HeaderFields: ExpressibleByArrayLiteral {
    /// Creates a list of the given header fields.
    public init(arrayLiteral elements: HeaderField...) {
        fields = elements
    }
}

extension HeaderFields: CustomStringConvertible {
    /// The fields as sent, with sensitive values redacted.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension String {
    /// Whether the text is a token of RFC 9110 section 5.6.2, as required for names of methods and header fields.
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy(\.isTokenCharacter)
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a token (RFC 9110 section 5.6.2).
    var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(self)
        }
    }
}
