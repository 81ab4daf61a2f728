/// The rule of a ``User`` that was broken.
public enum UserError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name is empty or only white space.
    case blankName
    /// The username is empty or only white space.
    case blankUsername
    /// The username, given here, has white space inside.
    case usernameIsNotOneWord(String)

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .blankName: "A user's name must not be blank."
        case .blankUsername: "A username must not be blank."
        case .usernameIsNotOneWord(let username): "A username must be one word, which “\(username)” is not."
        }
    }
}
