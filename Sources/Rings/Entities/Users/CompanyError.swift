/// The rule of a ``Company`` that was broken.
public enum CompanyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty or only white space.
    case blankName

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .blankName: "A company's name must not be blank."
        }
    }
}
