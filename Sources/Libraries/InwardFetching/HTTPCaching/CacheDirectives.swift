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
        fields.forEachValue(of: .cacheControl) { read($0) }
    }

    private init() {}

    /// Reads the value of a field (RFC 9111 section 5.2), whose syntax is that of lists (RFC 9110 section 5.6).
    mutating func read(_ value: String) {
        value.withBytes { bytes in
            var position = 0
            while true {
                position = bytes.end(from: position) { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
                guard position < bytes.count else { return }
                readDirective(in: bytes, at: &position)
            }
        }
    }

    /// Reads a directive, up to the comma after it or the end.
    ///
    /// White space around the equals sign is an error: a name before it is unknown, and an argument after it includes it.
    private mutating func readDirective(in bytes: Span<UInt8>, at position: inout Int) {
        var start = position
        position = bytes.end(from: start) { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
            let name = Name(bytes.extracting(bytes.withoutTrailingWhiteSpace(start..<position)))
            return apply(name, nil)
        }
        let name = Name(bytes.extracting(start..<position))
        start = position + 1
        let string = bytes.quotedString(at: start)
        if let string { start = string.end }
        position = bytes.end(from: start) { $0 != UInt8(ascii: ",") }
        let token = bytes.extracting(bytes.withoutTrailingWhiteSpace(start..<position))
        if let string {
            apply(name, (string.bytes + token.array).span)
        } else {
            apply(name, token)
        }
    }

    /// Applies one directive.
    ///
    /// - Parameters:
    ///   - name: The name; `nil` for an unknown one, which is ignored.
    ///   - argument: The argument without quotation marks; `nil` if there is none.
    mutating func apply(_ name: Name?, _ argument: Span<UInt8>?) {
        switch name {
        case nil: break
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
    private static func lifetime(_ argument: Span<UInt8>?, after earlier: Duration?) -> Duration {
        let value = seconds(argument) ?? .zero
        return earlier.map { $0 == value ? value : .zero } ?? value
    }

    private static func read(
        _ argument: Span<UInt8>?,
        into fields: inout Set<HeaderField.Name>,
        or all: inout Bool
    ) {
        var names: [HeaderField.Name?] = []
        if let argument {
            var position = 0
            while let element = argument.nextListElement(at: &position) {
                names.append(HeaderField.Name(argument.extracting(element).text))
            }
        }
        if names.isEmpty || names.contains(nil) { all = true } else { fields.formUnion(names.compactMap(\.self)) }
    }

    /// Returns a number of seconds (RFC 9111 section 1.2.2), limited to the maximum; `nil` if the argument is not one.
    static func seconds(_ argument: Span<UInt8>?) -> Duration? {
        guard let argument, !argument.isEmpty else { return nil }
        var seconds: Int64 = 0
        for index in argument.indices {
            guard argument[index].isDigit else { return nil }
            seconds = min(seconds * 10 + Int64(argument[index] - UInt8(ascii: "0")), maximumSeconds)
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
        init?(_ text: Span<UInt8>) {
            guard text.count < Self.byLength.count else { return nil }
            for (name, spelling) in Self.byLength[text.count] where text.spells(spelling) {
                self = name
                return
            }
            return nil
        }

        /// The names and their bytes, by length.
        private static let byLength: [[(name: Self, spelling: [UInt8])]] = {
            let names = allCases.map { (name: $0, spelling: Array($0.rawValue.utf8)) }
            let longest = names.map(\.spelling.count).max() ?? 0
            return (0...longest).map { length in names.filter { $0.spelling.count == length } }
        }()
    }
}

extension Span<UInt8> {
    /// Returns the content of a quoted string, which can contain anything, including commas, and where it ends; `nil` if no string begins
    /// here, or its closing quotation mark is missing. A missing mark must not hide the directives that follow.
    fileprivate func quotedString(at position: Int) -> (bytes: [UInt8], end: Int)? {
        guard position < count, self[position] == UInt8(ascii: "\"") else { return nil }
        var string = QuotedString()
        for index in position + 1..<count where string.ends(with: self[index]) { return (string.content, index + 1) }
        return nil
    }
}
