/// Where an answer came from.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    enum Code: Hashable {
        case memory
        case store
        case upstream
    }

    let code: Code

    /// Kept in this process.
    public static let memory = Self(code: .memory)

    /// Kept by this program beyond the life of a process.
    public static let store = Self(code: .store)

    /// Asked of the source for this answer.
    public static let upstream = Self(code: .upstream)

    /// The origin's name.
    public var description: String {
        switch code {
        case .memory: "memory"
        case .store: "store"
        case .upstream: "upstream"
        }
    }
}
