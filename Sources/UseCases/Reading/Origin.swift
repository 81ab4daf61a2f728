/// Where an answer came from.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    enum Code: Hashable {
        case memory
        case upstream
    }

    let code: Code

    /// Kept in this process.
    public static let memory = Self(code: .memory)

    /// Asked of the source for this answer.
    public static let upstream = Self(code: .upstream)

    /// The origin's name.
    public var description: String {
        switch code {
        case .memory: "memory"
        case .upstream: "upstream"
        }
    }
}
