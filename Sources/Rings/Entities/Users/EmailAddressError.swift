/// Why a text is no ``EmailAddress``.
public enum EmailAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text, given here, has no `@` or more than one.
    case notOneAtSign(String)
    /// The text is longer than 254 octets; its length is given here.
    case tooLong(octets: Int)
    /// What stands before the `@` is empty, over 64 octets, or has a character that may not stand there.
    case invalidLocalPart(String)
    /// What stands behind the `@` is no host name.
    case invalidDomain(String)

    /// The rule, as a sentence for a person.
    public var description: String {
        switch self {
        case .notOneAtSign(let text): "An e-mail address has exactly one “@”, which “\(text)” has not."
        case .tooLong(let octets): "An e-mail address has at most 254 octets, and this one has \(octets)."
        case .invalidLocalPart(let text): "What stands before the “@” in “\(text)” is no mailbox name."
        case .invalidDomain(let text): "What stands behind the “@” in “\(text)” is no host name."
        }
    }
}
