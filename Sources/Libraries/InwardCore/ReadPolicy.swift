/// A choice of where a read may get its answer, and how old the answer may be.
///
/// ```swift
/// let list = try await users.list(.cacheFirst)  // A fresh copy, or else the upstream.
/// let current = try await users.list(.upstreamFirst)  // The upstream, or else a copy, even a stale one.
/// let recent = try await users.list(.cacheFirst.notOlder(than: .seconds(5)))
/// ```
public struct ReadPolicy: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline
    enum Code: Hashable, Sendable {
        case cacheFirst
        case upstreamOnly
        case cacheOnly
        case upstreamFirst
    }

    @usableFromInline let code: Code

    /// The maximum age of an answer, or `nil` if the repository decides.
    public private(set) var maximumAge: Duration?

    private init(_ code: Code) {
        self.code = code
    }

    /// Returns a fresh copy from memory or the store, or else asks the upstream. The repository may return a stale copy while
    /// it refreshes it, or if the upstream fails.
    public static let cacheFirst = Self(.cacheFirst)

    /// Asks the upstream. The read bypasses the repository's copies and the caches on the way.
    public static let upstreamOnly = Self(.upstreamOnly)

    /// Returns the repository's cached copy, even a stale one, without asking the upstream.
    public static let cacheOnly = Self(.cacheOnly)

    /// Asks the upstream, and falls back to the repository's cached copy, even a stale one, if the upstream fails.
    public static let upstreamFirst = Self(.upstreamFirst)

    /// Returns this policy with a maximum age for answers.
    public func notOlder(than age: Duration) -> Self {
        var policy = self
        policy.maximumAge = age
        return policy
    }

    /// Whether a cached copy may answer, either in the repository or on the way to the upstream.
    @inlinable
    public var allowsCopies: Bool {
        switch code {
        case .cacheFirst, .cacheOnly: true
        case .upstreamOnly, .upstreamFirst: false
        }
    }

    /// Whether the read may ask the upstream.
    @inlinable
    public var asksUpstream: Bool { code != .cacheOnly }

    /// Whether the repository answers with any cached copy, even a stale one, when the upstream fails.
    @inlinable
    public var fallsBackToCache: Bool {
        switch code {
        case .upstreamFirst: true
        case .cacheFirst, .upstreamOnly, .cacheOnly: false
        }
    }

    /// The name of the policy, and the maximum age if one is set.
    public var description: String {
        let name =
            switch code {
            case .cacheFirst: "cache first"
            case .upstreamOnly: "upstream only"
            case .cacheOnly: "cache only"
            case .upstreamFirst: "upstream first"
            }
        return maximumAge.map { "\(name), not older than \($0)" } ?? name
    }
}
