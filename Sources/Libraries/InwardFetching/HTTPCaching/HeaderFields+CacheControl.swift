#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HeaderFields {
    /// The arguments of the cache directives (RFC 9111 section 5.2) by their names. An argument may be empty.
    ///
    /// Where a directive repeats, the first counts. An argument may be a token or a quoted string, which can contain anything,
    /// commas included (RFC 9110 section 5.6.4).
    package var cacheDirectives: [String: String] {
        Dictionary(values(of: .cacheControl).flatMap(Self.directives), uniquingKeysWith: { first, _ in first })
    }

    /// How long the answer with these fields is fresh from when it was made; `nil` if the answer does not say so, or must not be
    /// kept by one user's cache.
    ///
    /// `Vary` does not matter, because the cache finds an answer by the whole request, unless it is `*`.
    var freshnessLifetime: Duration? {
        let directives = cacheDirectives
        guard directives["no-store"] == nil, directives["no-cache"] == nil, self[.vary]?.contains("*") != true,
            let seconds = directives["max-age"].flatMap(Self.deltaSeconds), seconds > 0
        else { return nil }
        return .seconds(seconds)
    }

    /// How long caches on the way have held the answer with these fields (RFC 9111 section 5.1); `nil` if none says so.
    ///
    /// A value that is not a number of seconds is the largest age there is.
    package var ageValue: Duration? {
        self[.age].map { .seconds(Self.deltaSeconds($0) ?? Self.maximumSeconds) }
    }

    /// How old the answer with these fields is when it arrives (RFC 9111 section 4.2.3).
    ///
    /// - Parameters:
    ///   - delay: How long it took from the request to the answer. When a slow answer was made is not known, so all of it counts.
    ///   - date: The time of arrival, by a clock that can be compared to that of the source.
    /// - Returns: the age.
    func initialAge(after delay: Duration, at date: Date) -> Duration {
        let corrected = (ageValue ?? .zero) + Swift.max(.zero, delay)
        guard let made = values(of: .date).first.flatMap({ Date(httpDate: $0) }) else { return corrected }
        let apparent = Swift.min(Swift.max(0, date.timeIntervalSince(made)), Double(Self.maximumSeconds))
        // Dates are in whole seconds, without the rest.
        return Swift.max(corrected, .seconds(Int64(apparent)))
    }

    /// The largest number of seconds that counts (RFC 9111 section 1.2.2).
    private static let maximumSeconds: Int64 = 2_147_483_648

    /// The directives of one field. An element without a token for a name is not one.
    private static func directives(of value: String) -> [(name: String, argument: String)] {
        var directives: [(name: String, argument: String)] = []
        var rest = value.utf8[...]
        while !rest.isEmpty {
            let name = trimmed(rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }).lowercased()
            rest = rest.drop { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
            let argument = rest.popFirst() == UInt8(ascii: "=") ? takeArgument(from: &rest) : ""
            if name.isToken { directives.append((name, argument)) }
        }
        return directives
    }

    /// Reads an argument, and the comma after it.
    private static func takeArgument(from rest: inout Substring.UTF8View) -> String {
        let quoted = takeQuotedString(from: &rest)
        let plain = trimmed(rest.prefix { $0 != UInt8(ascii: ",") })
        rest = rest.drop { $0 != UInt8(ascii: ",") }.dropFirst()
        return quoted + plain
    }

    /// Reads a quoted string, without its quotation marks and the escapes in it; reads nothing where none begins, or where it
    /// does not end, so that it does not hide the directives after it.
    private static func takeQuotedString(from rest: inout Substring.UTF8View) -> String {
        var string = rest.drop(while: isWhiteSpace)
        guard string.popFirst() == UInt8(ascii: "\"") else { return "" }
        var bytes: [UInt8] = []
        while let byte = string.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                rest = string
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): if let escaped = string.popFirst() { bytes.append(escaped) }
            default: bytes.append(byte)
            }
        }
        return ""
    }

    /// A text without the white space around it.
    private static func trimmed(_ text: Substring.UTF8View) -> String {
        var text = text.drop(while: isWhiteSpace)
        while let last = text.last, isWhiteSpace(last) { text.removeLast() }
        return String(Substring(text))
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// A number of seconds, and the largest there is for all that are larger; `nil` if the text is not one.
    private static func deltaSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Swift.min(Int64(text) ?? maximumSeconds, maximumSeconds)
    }
}
