#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HeaderFields {
    /// The arguments of the cache directives (RFC 9111 section 5.2) by their names. An argument may be empty.
    ///
    /// Where a directive repeats, the first counts.
    var cacheDirectives: [String: String] {
        let directives = values(of: .cacheControl).flatMap { $0.split(separator: ",") }.map { directive in
            let name = directive.prefix { $0 != "=" }
            let argument = directive.dropFirst(name.count + 1)
            return (Self.bare(name).lowercased(), Self.bare(argument))
        }
        return Dictionary(directives.filter { !$0.0.isEmpty }, uniquingKeysWith: { first, _ in first })
    }

    /// A name or an argument without what may stand around it.
    private static func bare(_ text: Substring) -> String { text.filter { !" \t\"".contains($0) } }

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
    var ageValue: Duration? {
        self[.age].map { .seconds(Self.deltaSeconds($0) ?? Self.mostSeconds) }
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
        let apparent = Swift.min(Swift.max(0, date.timeIntervalSince(made)), Double(Self.mostSeconds))
        // Dates are in whole seconds, without the rest.
        return Swift.max(corrected, .seconds(Int64(apparent)))
    }

    /// The largest number of seconds that counts (RFC 9111 section 1.2.2).
    private static let mostSeconds: Int64 = 2_147_483_648

    /// A number of seconds, and the largest there is for all that are larger; `nil` if the text is not one.
    private static func deltaSeconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Swift.min(Int64(text) ?? mostSeconds, mostSeconds)
    }
}
