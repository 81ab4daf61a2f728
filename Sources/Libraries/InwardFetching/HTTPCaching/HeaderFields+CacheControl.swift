#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HeaderFields {
    /// The arguments of the cache directives (RFC 9111 section 5.2), keyed by name. An argument may be empty.
    ///
    /// If a directive repeats, the first one counts. An argument is a token or a quoted string, which can contain anything,
    /// including commas (RFC 9110 section 5.6.4).
    package var cacheDirectives: [String: String] {
        Dictionary(values(of: .cacheControl).flatMap(Self.directives), uniquingKeysWith: { first, _ in first })
    }

    /// How long a response with these fields is fresh, from its creation; `nil` if the fields do not say so, or a private cache
    /// must not store the response.
    ///
    /// `Vary` matters only if it is `*`, because the whole request is the cache key.
    var freshnessLifetime: Duration? {
        let directives = cacheDirectives
        guard directives["no-store"] == nil, directives["no-cache"] == nil, self[.vary]?.contains("*") != true,
            let seconds = directives["max-age"].flatMap(Self.deltaSeconds), seconds > 0
        else { return nil }
        return .seconds(seconds)
    }

    /// How long caches on the way have held the response (RFC 9111 section 5.1); `nil` without an `Age` field.
    ///
    /// A value that is not a number of seconds counts as the maximum age.
    package var ageValue: Duration? {
        self[.age].map { .seconds(Self.deltaSeconds($0) ?? Self.maximumSeconds) }
    }

    /// Returns the age of a response on arrival (RFC 9111 section 4.2.3).
    ///
    /// - Parameters:
    ///   - delay: The time from the request to the response. All of it counts, because the time at which the response was
    ///     created is unknown.
    ///   - date: The time of arrival, by a clock that is comparable to that of the upstream.
    /// - Returns: The age.
    func initialAge(after delay: Duration, at date: Date) -> Duration {
        let corrected = (ageValue ?? .zero) + Swift.max(.zero, delay)
        guard let made = values(of: .date).first.flatMap({ Date(httpDate: $0, near: date) }) else { return corrected }
        let apparent = Swift.min(Swift.max(0, date.timeIntervalSince(made)), Double(Self.maximumSeconds))
        // Dates have whole seconds, so truncate the difference.
        return Swift.max(corrected, .seconds(Int64(apparent)))
    }

    /// The maximum number of seconds (RFC 9111 section 1.2.2).
    private static let maximumSeconds: Int64 = 2_147_483_648

    /// Returns the directives of one field, skipping elements whose name is not a token.
    private static func directives(of value: String) -> [(name: String, argument: String)] {
        var directives: [(name: String, argument: String)] = []
        var rest = value.utf8[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }.trimmed.lowercased()
            rest = rest.drop { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            let argument = rest.popFirst() == UInt8(ascii: "=") ? takeArgument(from: &rest) : ""
            if name.isToken { directives.append((name, argument)) }
        }
        return directives
    }

    /// Reads an argument and the comma after it.
    private static func takeArgument(from rest: inout Substring.UTF8View) -> String {
        let quoted = rest.takeQuotedString() ?? ""
        let plain = rest.prefix { $0 != UInt8(ascii: ",") }.trimmed
        rest = rest.drop { $0 != UInt8(ascii: ",") }.dropFirst()
        return quoted + plain
    }

    /// Returns a number of seconds, capped at the maximum; `nil` if the text is not a number.
    private static func deltaSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Swift.min(Int64(text) ?? maximumSeconds, maximumSeconds)
    }
}

/// The syntax that header fields share (RFC 9110 section 5.6).
extension Substring.UTF8View {
    /// The text without surrounding white space.
    var trimmed: String {
        var text = drop(while: Self.isWhiteSpace)
        while let last = text.last, Self.isWhiteSpace(last) { text.removeLast() }
        return String(Substring(text))
    }

    /// Reads a quoted string and the white space before it, and returns it without its quotation marks and escapes. If there is
    /// no string, or it is unterminated, reads nothing and returns `nil`, so that it does not hide what follows.
    mutating func takeQuotedString() -> String? {
        var string = drop(while: Self.isWhiteSpace)
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

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
