/// The rule of a ``Post`` that was broken.
public enum PostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The title is empty or only white space.
    case blankTitle
    /// The body is empty or only white space.
    case blankBody

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .blankTitle: "A post's title must not be blank."
        case .blankBody: "A post's body must not be blank."
        }
    }
}
