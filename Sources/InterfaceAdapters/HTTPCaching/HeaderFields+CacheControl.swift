extension HeaderFields {
    /// What the fields say about caching (RFC 9111 section 5.2): the argument of each directive, which may be empty.
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

    /// How many seconds an answer is fresh, if it says so.
    var maxAge: Int32? { cacheDirectives["max-age"].flatMap(Int32.init) }

    /// For how long from now the answer with these fields is fresh, if it says so itself and may be kept by one user's cache.
    ///
    /// What the answer differs by (`Vary`) is the same wherever it is found again, because it is found by the whole request;
    /// but for what is in no request (`*`).
    var freshness: Duration? {
        let directives = cacheDirectives
        guard directives["no-store"] == nil, directives["no-cache"] == nil, self[.vary]?.contains("*") != true,
            let lifetime = maxAge, lifetime > 0
        else { return nil }
        // RFC 9111 section 4.2.3: what a cache on the way held it for counts.
        let age = self[.age].map { Int32($0) ?? .max } ?? 0
        return age < lifetime ? .seconds(lifetime - Swift.max(0, age)) : nil
    }
}
