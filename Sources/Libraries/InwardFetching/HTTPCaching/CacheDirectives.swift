#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The directives for caches in a request or a response (RFC 9111 section 5.2), with those of RFC 5861 and RFC 8246.
///
/// Unknown directives are ignored. What is malformed is read in the way that reuses less: a response whose `max-age` is not a number
/// is stale, and `no-cache` with arguments that are not field names applies to the whole response.
struct CacheDirectives: Hashable, Sendable, Codable {
    // MARK: In requests and responses

    var noStore = false
    /// In a response without field names, and in a request.
    var noCache = false
    var maxAge: Duration?

    // MARK: In responses

    /// Whether the response is for one user, so that no shared cache may store it. With field names, only these fields are.
    var isPrivate = false
    var isPublic = false
    var mustRevalidate = false
    var proxyRevalidate = false
    var mustUnderstand = false
    var immutable = false
    var sharedMaxAge: Duration?
    var staleWhileRevalidate: Duration?
    var staleIfError: Duration?
    /// The fields that must not be reused without validation.
    var noCacheFields: Set<HeaderField.Name> = []
    /// The fields that a shared cache must not store.
    var privateFields: Set<HeaderField.Name> = []

    // MARK: In requests

    var onlyIfCached = false
    var minFresh: Duration?
    /// How long a response may have been stale; the maximum number of seconds for `max-stale` without an argument.
    var maxStale: Duration?

    /// Without the names of fields, which only decide what is stored of a response.
    private enum CodingKeys: CodingKey {
        case noStore, noCache, maxAge, isPrivate, isPublic, mustRevalidate, proxyRevalidate, mustUnderstand, immutable
        case sharedMaxAge, staleWhileRevalidate, staleIfError, onlyIfCached, minFresh, maxStale
    }

    /// The absence of directives.
    static let none = Self()

    /// The maximum number of seconds (RFC 9111 section 1.2.2), which stands for any larger number.
    private static let maximumSeconds: Int64 = 2_147_483_648

    /// The directives of all `Cache-Control` fields together.
    init(_ fields: HeaderFields) {
        // By index, because iteration copies fields.
        for index in fields.indices where fields[index].name == .cacheControl { read(fields[index].value) }
    }

    private init() {}

    /// Reads the value of a field.
    mutating func read(_ value: String) {
        var parser = CacheDirectiveParser(value)
        while let (name, argument) = parser.next() {
            if let name { apply(name, argument) }
        }
    }

    /// Applies one directive.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - argument: The argument without quotation marks; `nil` if there is none.
    mutating func apply(_ name: Name, _ argument: ArraySlice<UInt8>?) {
        switch name {
        case .maxAge: maxAge = Self.lifetime(argument, after: maxAge)
        case .sharedMaxAge: sharedMaxAge = Self.lifetime(argument, after: sharedMaxAge)
        case .noCache: Self.read(argument, into: &noCacheFields, or: &noCache)
        case .private: Self.read(argument, into: &privateFields, or: &isPrivate)
        case .noStore: noStore = true
        case .public: isPublic = true
        case .mustRevalidate: mustRevalidate = true
        case .proxyRevalidate: proxyRevalidate = true
        case .mustUnderstand: mustUnderstand = true
        case .immutable: immutable = true
        case .onlyIfCached: onlyIfCached = true
        case .staleWhileRevalidate: staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument)
        case .staleIfError: staleIfError = staleIfError ?? Self.seconds(argument)
        case .minFresh: minFresh = Self.seconds(argument).map { max($0, minFresh ?? $0) } ?? minFresh
        case .maxStale:
            let limit = argument == nil ? .seconds(Self.maximumSeconds) : Self.seconds(argument)
            maxStale = limit.map { min($0, maxStale ?? $0) } ?? maxStale
        }
    }

    /// Returns a lifetime. One that is not a number of seconds, or differs from an earlier one, is zero: the response is stale
    /// (RFC 9111 section 4.2.1).
    private static func lifetime(_ argument: ArraySlice<UInt8>?, after earlier: Duration?) -> Duration {
        let value = seconds(argument) ?? .zero
        return earlier.map { $0 == value ? value : .zero } ?? value
    }

    private static func read(
        _ argument: ArraySlice<UInt8>?,
        into fields: inout Set<HeaderField.Name>,
        or all: inout Bool
    ) {
        var names: [HeaderField.Name?] = []
        var rest = argument ?? []
        while let element = rest.takeListElement() { names.append(HeaderField.Name(element.text)) }
        if names.isEmpty || names.contains(nil) { all = true } else { fields.formUnion(names.compactMap(\.self)) }
    }

    /// Returns a number of seconds (RFC 9111 section 1.2.2), limited to the maximum; `nil` if the argument is not one.
    static func seconds(_ argument: ArraySlice<UInt8>?) -> Duration? {
        guard let argument, !argument.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in argument {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), maximumSeconds)
        }
        return .seconds(seconds)
    }
}

extension CacheDirectives {
    /// The name of a directive.
    enum Name: String, CaseIterable {
        case maxAge = "max-age"
        case sharedMaxAge = "s-maxage"
        case noCache = "no-cache"
        case `private` = "private"
        case noStore = "no-store"
        case `public` = "public"
        case mustRevalidate = "must-revalidate"
        case proxyRevalidate = "proxy-revalidate"
        case mustUnderstand = "must-understand"
        case immutable = "immutable"
        case onlyIfCached = "only-if-cached"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
        case minFresh = "min-fresh"
        case maxStale = "max-stale"

        /// Finds a name in any case; `nil` if it is that of no directive.
        init?(_ text: ArraySlice<UInt8>) {
            guard let index = Self.spellings.firstIndex(where: text.spells) else { return nil }
            self = Self.names[index]
        }

        private static let names = allCases
        private static let spellings = names.map(\.rawValue.bytes)
    }
}

/// A parser of directives (RFC 9111 section 5.2), whose syntax is that of lists (RFC 9110 section 5.6).
struct CacheDirectiveParser {
    private let bytes: ArraySlice<UInt8>
    private var position = 0

    init(_ value: String) {
        bytes = value.bytes
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    /// Reads the next directive and the comma after it.
    ///
    /// White space around the equals sign is an error: a name before it is unknown, and an argument after it includes it.
    ///
    /// - Returns: The name, `nil` if it is unknown, and the argument; `nil` at the end.
    mutating func next() -> (name: CacheDirectives.Name?, argument: ArraySlice<UInt8>?)? {
        skip { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
        guard !isAtEnd else { return nil }
        let start = position
        skip { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        let name = bytes[start..<position]
        guard !isAtEnd, bytes[position] == UInt8(ascii: "=") else {
            return (CacheDirectives.Name(name.withoutTrailingWhiteSpace), nil)
        }
        position += 1
        return (CacheDirectives.Name(name), takeArgument())
    }

    /// Reads an argument: a token or a quoted string, which can contain anything, including commas.
    private mutating func takeArgument() -> ArraySlice<UInt8> {
        var quoted: ArraySlice<UInt8>?
        if !isAtEnd, bytes[position] == UInt8(ascii: "\"") {
            var rest = bytes[position...]
            quoted = rest.takeQuotedString()
            position = rest.startIndex
        }
        let start = position
        skip { $0 != UInt8(ascii: ",") }
        let text = bytes[start..<position].withoutTrailingWhiteSpace
        return quoted.map { $0 + text } ?? text
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while !isAtEnd, condition(bytes[position]) { position += 1 }
    }
}

extension Collection<UInt8> where SubSequence == Self {
    /// Reads a quoted string and the white space before it, and returns it without its quotation marks and escapes. If there is
    /// no string, or it is unterminated, reads nothing and returns `nil`, so that it does not hide what follows.
    mutating func takeQuotedString() -> ArraySlice<UInt8>? {
        var string = drop(while: \.isWhiteSpace)
        guard string.popFirst() == UInt8(ascii: "\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = string.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                self = string
                return bytes[...]
            case UInt8(ascii: "\\"): if let escaped = string.popFirst() { bytes.append(escaped) }
            default: bytes.append(byte)
            }
        }
        return nil
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The text without surrounding white space.
    var trimmed: String { String(decoding: drop(while: \.isWhiteSpace).withoutTrailingWhiteSpace, as: UTF8.self) }

    /// The text without white space at its end.
    var withoutTrailingWhiteSpace: Self {
        var text = self
        while let last = text.last, last.isWhiteSpace { text.removeLast() }
        return text
    }
}

extension ArraySlice<UInt8> {
    /// Reads the next element of a list and the comma after it, without the white space around it, skipping empty elements (RFC 9110
    /// section 5.6.1); `nil` at the end. Commas in quoted strings do not count.
    mutating func takeListElement() -> Self? {
        self = drop { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
        guard !isEmpty else { return nil }
        var end = startIndex
        var isQuoted = false
        while end < endIndex {
            let byte = self[end]
            if byte == UInt8(ascii: "\\"), isQuoted, end + 1 < endIndex {
                end += 1
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                break
            }
            end += 1
        }
        let element = self[..<end].withoutTrailingWhiteSpace
        self = self[end...]
        return element
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab (RFC 9110 section 5.6.3).
    var isWhiteSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
