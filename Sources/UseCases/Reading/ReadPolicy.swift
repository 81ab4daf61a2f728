/// How far a read may go for its answer.
///
/// Chosen by intent: the caller says what it needs, and the repository knows which places it has.
public struct ReadPolicy: Hashable, Sendable, CustomStringConvertible {
    enum Code: Hashable {
        case nearest
        case upstream
    }

    let code: Code

    /// The nearest answer there is, from wherever the repository keeps one.
    public static let nearest = Self(code: .nearest)

    /// An answer made now by the source itself: no copy kept on the way will do.
    public static let upstream = Self(code: .upstream)

    /// Whether a copy kept on the way to the source will do.
    public var allowsCopies: Bool {
        switch code {
        case .nearest: true
        case .upstream: false
        }
    }

    /// The policy's name.
    public var description: String {
        switch code {
        case .nearest: "nearest"
        case .upstream: "upstream"
        }
    }
}
