/// The directives of a response that apply to a cache.
struct ResponseDirectives: Hashable, Sendable, Codable {
    var directives: CacheDirectives
    /// Whether they are from a field for shared caches, which replaces `Cache-Control` and `Expires` (RFC 9213 section 2.2).
    var isTargeted: Bool

    /// Reads the directives for a cache.
    init(_ fields: HeaderFields, for policy: CachePolicy) {
        if policy.isShared, let targeted = CacheDirectives(targeted: fields) {
            directives = targeted
            isTargeted = true
        } else {
            directives = CacheDirectives(fields)
            isTargeted = false
        }
    }
}

extension CacheDirectives {
    /// Reads `CDN-Cache-Control`, which is a dictionary of structured fields (RFC 9213 section 2.1); `nil` if it is missing, empty or
    /// malformed, so that `Cache-Control` applies.
    init?(targeted fields: HeaderFields) {
        // First whether there is one, which there seldom is.
        guard fields.contains(.cdnCacheControl),
            let dictionary = StructuredDictionary(fields.values(of: .cdnCacheControl).joined(separator: ",")),
            !dictionary.members.isEmpty
        else { return nil }
        self = .none
        for (key, value) in dictionary.members {
            // Unknown directives may have any value, and so may those of requests, which mean nothing here.
            guard let name = Name(rawValue: key), ![.onlyIfCached, .minFresh, .maxStale].contains(name) else {
                continue
            }
            switch value {
            case .boolean(let isSet): if isSet { apply(name, nil) }
            case .integer(let number): String(number).withBytes { apply(name, $0) }
            case .string(let text) where name == .noCache || name == .private:
                text.withBytes { apply(name, $0) }
            case .string, .other: return nil
            }
        }
    }
}
