/// What a cache did with a request, as the field `Cache-Status` says it (RFC 9211).
enum CacheStatus: Hashable, Sendable {
    /// It answered from a stored response without asking the upstream.
    case hit
    /// It asked the upstream.
    case forwarded(Forwarding)

    struct Forwarding: Hashable, Sendable {
        /// Why it asked.
        enum Reason: String, Hashable, Sendable {
            /// The cache does not answer requests of this kind.
            case bypass
            case method
            /// No response is stored for the URL.
            case uriMiss = "uri-miss"
            /// None of the stored responses for the URL matches the request.
            case varyMiss = "vary-miss"
            /// The request demands it.
            case request
            case stale
            /// The stored part does not contain what the request asks for.
            case partial
        }

        var reason: Reason
        /// The status of the upstream's response, if the answer has another one.
        var status: DataResponse.Status?
        var isStored = false
        /// Whether the answer is to another request that was sent meanwhile.
        var isCollapsed = false
    }

    /// Returns the value of the field.
    ///
    /// - Parameters:
    ///   - name: The name of the cache.
    ///   - remaining: The remaining lifetime of the response in the answer; `nil` if it is unknown.
    /// - Returns: The value, such as `Inward; hit; ttl=59`.
    func fieldValue(of name: String, remaining: Duration?) -> String {
        var value = name
        // Enough for almost every value, so that memory is allocated once.
        value.reserveCapacity(name.utf8.count + 48)
        switch self {
        case .hit: value += "; hit"
        case .forwarded(let forwarding):
            value += "; fwd="
            value += forwarding.reason.rawValue
            if let status = forwarding.status { value += "; fwd-status=\(status.code)" }
            if forwarding.isStored { value += "; stored" }
            if forwarding.isCollapsed { value += "; collapsed" }
        }
        if let remaining {
            value += "; ttl="
            value += String(remaining.components.seconds)
        }
        return value
    }
}

extension DataResponse {
    /// Adds what a cache did. Caches nearer to the origin come first.
    mutating func append(_ status: CacheStatus, of policy: CachePolicy, remaining: Duration? = nil) {
        headerFields.append(HeaderField(.cacheStatus, status.fieldValue(of: policy.name, remaining: remaining)))
    }
}
