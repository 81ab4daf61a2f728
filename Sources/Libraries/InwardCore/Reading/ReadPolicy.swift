/// Where a read may get its answer from, and how old the answer may be.
///
///     let users = try await listUsers(.cacheFirst)                          // a fresh copy, else the upstream
///     let now = try await listUsers(.upstreamFirst)                          // the upstream, else a copy however old
///     let young = try await listUsers(.cacheFirst.notOlder(than: .seconds(5)))
public struct ReadPolicy: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline
    enum Code: Hashable, Sendable {
        case cacheFirst
        case upstreamOnly
        case cacheOnly
        case upstreamFirst
    }

    @usableFromInline let code: Code

    /// How old an answer may be at most; `nil` if that is for the repository to say.
    public private(set) var maximumAge: Duration?

    private init(_ code: Code) {
        self.code = code
    }

    /// The nearest fresh copy that the repository keeps, or else an answer from the upstream.
    public static let cacheFirst = Self(.cacheFirst)

    /// An answer that the upstream gives now. Copies, also those of caches on the way, are not used.
    public static let upstreamOnly = Self(.upstreamOnly)

    /// What the repository keeps, however old. The upstream is not asked.
    public static let cacheOnly = Self(.cacheOnly)

    /// An answer that the upstream gives now, or if it fails, what the repository keeps, however old.
    public static let upstreamFirst = Self(.upstreamFirst)

    /// This policy, with answers that are no older than that.
    public func notOlder(than age: Duration) -> Self {
        var policy = self
        policy.maximumAge = age
        return policy
    }

    /// Whether a copy that is kept by the repository or on the way to the upstream may answer.
    @inlinable
    public var allowsCopies: Bool {
        switch code {
        case .cacheFirst, .cacheOnly: true
        case .upstreamOnly, .upstreamFirst: false
        }
    }

    /// Whether the upstream may be asked.
    @inlinable
    public var asksUpstream: Bool { code != .cacheOnly }

    /// Whether the repository answers with what it keeps, however old, when the upstream fails.
    @inlinable
    public var fallsBackToCache: Bool {
        switch code {
        case .upstreamFirst: true
        case .cacheFirst, .upstreamOnly, .cacheOnly: false
        }
    }

    /// The policy's name, and the largest age if there is one.
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
