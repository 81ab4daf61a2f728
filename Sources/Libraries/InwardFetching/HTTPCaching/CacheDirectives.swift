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
        // An array, whose elements are faster to read than those of a string.
        var rest = Array(value.utf8)[...]
        while let (name, argument) = rest.takeDirective() { apply(name, argument) }
    }

    /// Applies one directive.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - argument: The argument without quotation marks; `nil` if there is none.
    mutating func apply(_ name: String, _ argument: String?) {
        switch name {
        case "max-age": maxAge = Self.lifetime(argument, after: maxAge)
        case "s-maxage": sharedMaxAge = Self.lifetime(argument, after: sharedMaxAge)
        case "no-cache": Self.read(argument, into: &noCacheFields, or: &noCache)
        case "private": Self.read(argument, into: &privateFields, or: &isPrivate)
        case "no-store": noStore = true
        case "public": isPublic = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": immutable = true
        case "only-if-cached": onlyIfCached = true
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument)
        case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(argument)
        case "min-fresh": minFresh = Self.seconds(argument).map { max($0, minFresh ?? $0) } ?? minFresh
        case "max-stale":
            let limit = argument == nil ? .seconds(Self.maximumSeconds) : Self.seconds(argument)
            maxStale = limit.map { min($0, maxStale ?? $0) } ?? maxStale
        default: break
        }
    }

    /// Returns a lifetime. One that is not a number of seconds, or differs from an earlier one, is zero: the response is stale
    /// (RFC 9111 section 4.2.1).
    private static func lifetime(_ argument: String?, after earlier: Duration?) -> Duration {
        let value = seconds(argument) ?? .zero
        return earlier.map { $0 == value ? value : .zero } ?? value
    }

    private static func read(_ argument: String?, into fields: inout Set<HeaderField.Name>, or all: inout Bool) {
        let parts = argument?.split(separator: ",").map { HeaderField.Name(Substring($0).utf8.trimmed) } ?? []
        let names = parts.compactMap(\.self)
        if names.isEmpty || names.count < parts.count { all = true } else { fields.formUnion(names) }
    }

    /// Returns a number of seconds (RFC 9111 section 1.2.2), limited to the maximum; `nil` if the argument is not one.
    static func seconds(_ argument: String?) -> Duration? {
        guard let argument, !argument.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in argument.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            seconds = min(seconds * 10 + Int64(byte - UInt8(ascii: "0")), maximumSeconds)
        }
        return .seconds(seconds)
    }
}

/// The syntax of directives (RFC 9111 section 5.2), which is that of lists (RFC 9110 section 5.6).
extension ArraySlice<UInt8> {
    /// Reads the next directive and the comma after it, skipping elements whose name is not a token.
    ///
    /// There is no white space around the equals sign. An argument that has some stays as it is, and a name that has some is not a
    /// token.
    ///
    /// - Returns: The name in lower case and the argument; `nil` at the end.
    mutating func takeDirective() -> (name: String, argument: String?)? {
        while !isEmpty {
            self = drop { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
            let name = prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            self = self[name.endIndex...]
            var argument: String?
            if first == UInt8(ascii: "=") {
                removeFirst()
                argument = takeArgument()
            }
            let text = argument == nil ? name.withoutTrailingWhiteSpace : name
            if !text.isEmpty, text.allSatisfy(\.isTokenCharacter) { return (text.text.lowercased(), argument) }
        }
        return nil
    }

    /// Reads an argument: a token or a quoted string, which can contain anything, including commas.
    private mutating func takeArgument() -> String {
        let quoted = first == UInt8(ascii: "\"") ? takeQuotedString() : nil
        let plain = prefix { $0 != UInt8(ascii: ",") }
        self = self[plain.endIndex...]
        let text = plain.withoutTrailingWhiteSpace.text
        return quoted.map { $0 + text } ?? text
    }

    /// The bytes as a text.
    private var text: String { String(decoding: self, as: UTF8.self) }
}

extension Collection<UInt8> where SubSequence == Self {
    /// Reads a quoted string and the white space before it, and returns it without its quotation marks and escapes. If there is
    /// no string, or it is unterminated, reads nothing and returns `nil`, so that it does not hide what follows.
    mutating func takeQuotedString() -> String? {
        var string = drop(while: \.isWhiteSpace)
        guard string.popFirst() == UInt8(ascii: "\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = string.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                self = string
                return String(decoding: bytes, as: UTF8.self)
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

extension UInt8 {
    /// Whether the byte is a space or a tab (RFC 9110 section 5.6.3).
    var isWhiteSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
