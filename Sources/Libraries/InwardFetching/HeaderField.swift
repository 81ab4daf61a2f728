/// One header field: a name and a value.
///
/// The value of a sensitive field shows in no description or reflection, and is not sent on to another origin.
public struct HeaderField: Hashable, Sendable {
    /// What the field says something about.
    public let name: Name
    /// What it says.
    public let value: String
    /// Whether the value is a credential or as good as one.
    public let isSensitive: Bool

    /// Makes a field.
    ///
    /// A carriage return, line feed or NUL in the value, which could end the field and begin another, becomes a space, and
    /// white space at the ends is dropped (RFC 9110 section 5.5).
    ///
    /// - Parameters:
    ///   - name: What the field says something about.
    ///   - value: What it says.
    ///   - isSensitive: Whether the value is a credential; by default, if the name is known to carry one.
    public init(_ name: Name, _ value: String, isSensitive: Bool? = nil) {
        self.name = name
        self.value = Self.sanitized(value)
        self.isSensitive = isSensitive ?? name.carriesCredentials
    }

    private static func sanitized(_ value: String) -> String {
        let isClean = !value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
        // Most are clean, and stay what they are.
        if isClean, !(value.utf8.first.map(isWhiteSpace) ?? false), !(value.utf8.last.map(isWhiteSpace) ?? false) {
            return value
        }
        var bytes = value.utf8.map { byte in [0x00, 0x0A, 0x0D].contains(byte) ? 0x20 : byte }[...]
        while let first = bytes.first, isWhiteSpace(first) { bytes.removeFirst() }
        while let last = bytes.last, isWhiteSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

extension HeaderField: CustomStringConvertible, CustomReflectable {
    /// The field as it is sent, but for a sensitive value.
    public var description: String { "\(name): \(isSensitive ? "…" : value)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

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

/// Header fields in the order they are sent. A name may repeat, and every repeat is kept.
public struct HeaderFields: Hashable, Sendable {
    private var fields: [HeaderField] = []

    /// Makes header fields without any.
    public init() {}

    /// Makes header fields of these.
    public init(_ fields: some Sequence<HeaderField>) {
        self.fields = Array(fields)
    }

    /// The value of the fields of this name; `nil` if there are none.
    ///
    /// The values of repeats are joined by commas, as RFC 9110 section 5.3 reads them; ``values(of:)`` keeps them apart.
    /// Setting replaces all fields of the name by one; setting `nil` removes them.
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

    /// The values of all fields of this name, in their order.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func values(of name: HeaderField.Name) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Adds a field behind the others, whether or not its name is there already.
    public mutating func append(_ field: HeaderField) {
        fields.append(field)
    }

    /// Removes every field that a condition holds for.
    ///
    /// - Complexity: O(n) in the number of fields.
    public mutating func removeAll(where condition: (HeaderField) -> Bool) {
        fields.removeAll(where: condition)
    }
}

extension HeaderFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position behind the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position, which must be one of ``startIndex`` up to but not including ``endIndex``.
    public subscript(position: Int) -> HeaderField { fields[position] }
}

extension HeaderFields: ExpressibleByArrayLiteral {
    /// Makes header fields of these.
    public init(arrayLiteral elements: HeaderField...) {
        fields = elements
    }
}

extension HeaderFields: CustomStringConvertible {
    /// The fields as they are sent, but for sensitive values.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension String {
    /// Whether this is a token of RFC 9110 section 5.6.2, as names of methods and header fields are.
    var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
