/// How far a read may go for its answer, and how old the answer may be.
///
/// Chosen by intent: the caller says what it needs, and the repository knows which places it has.
public struct ReadPolicy: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline
    enum Code: Hashable, Sendable {
        case nearest
        case upstream
        case local
        case upstreamElseLocal
    }

    @usableFromInline let code: Code

    /// How old an answer may be at most; `nil` if that is for the repository to say.
    public private(set) var largestAge: Duration?

    private init(_ code: Code) {
        self.code = code
    }

    /// The nearest fresh answer there is, from wherever the repository keeps one, or else from the source.
    public static let nearest = Self(.nearest)

    /// An answer made now by the source itself: no copy kept on the way will do.
    public static let upstream = Self(.upstream)

    /// What the repository keeps, however old, and nobody else is asked.
    public static let local = Self(.local)

    /// An answer made now by the source itself, or if it has none to give, what the repository keeps, however old.
    public static let upstreamElseLocal = Self(.upstreamElseLocal)

    /// This policy, with answers that are no older than that.
    public func notOlder(than age: Duration) -> Self {
        var policy = self
        policy.largestAge = age
        return policy
    }

    /// Whether a copy will do, kept by the repository or on the way to the source, while the source can be asked.
    @inlinable
    public var allowsCopies: Bool {
        switch code {
        case .nearest, .local: true
        case .upstream, .upstreamElseLocal: false
        }
    }

    /// Whether the source may be asked.
    @inlinable
    public var asksUpstream: Bool { code != .local }

    /// Whether what the repository keeps will do where the source has failed, however old it is.
    @inlinable
    public var takesLocalInstead: Bool {
        switch code {
        case .upstreamElseLocal: true
        case .nearest, .upstream, .local: false
        }
    }

    /// The policy's name, and the largest age if there is one.
    public var description: String {
        let name =
            switch code {
            case .nearest: "nearest"
            case .upstream: "upstream"
            case .local: "local"
            case .upstreamElseLocal: "upstream, else local"
            }
        return largestAge.map { "\(name), not older than \($0)" } ?? name
    }
}
