/// How far a declaration can be seen.
public enum AccessLevel: Int, Sendable, Comparable {
    case `private`, `fileprivate`, `internal`, `package`, `public`

    /// The level that a modifier names; `open` is public to whoever imports.
    init?(modifier: String) {
        switch modifier {
        case "private": self = .private
        case "fileprivate": self = .fileprivate
        case "internal": self = .internal
        case "package": self = .package
        case "public", "open": self = .public
        default: return nil
        }
    }

    /// By how far a declaration can be seen.
    public static func < (one: AccessLevel, other: AccessLevel) -> Bool { one.rawValue < other.rawValue }
}
