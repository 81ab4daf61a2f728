/// A mailbox that mail can be sent to, such as `ada@example.org`.
///
/// What counts as valid is what the WHATWG HTML standard calls a valid e-mail address (the rule of a web form's e-mail
/// field), within the lengths of RFC 5321 section 4.5.3.1: 64 octets before the `@` and 254 in all. Quoted local parts,
/// comments, address literals and characters outside ASCII are refused.
public struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    /// What stands before the `@`, in the case it was written: only the receiving host may say what it means.
    public let localPart: String
    /// The host, in lower case: the case of a host name carries no meaning (RFC 5321 section 2.4).
    public let domain: String

    /// Reads an address from its usual form.
    ///
    /// - Complexity: O(n) in the length of `text`.
    /// - Throws: an ``EmailAddressError`` that names the first rule the text breaks.
    public init(_ text: String) throws(EmailAddressError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .notOneAtSign(text) }
        guard text.utf8.count <= 254 else { throw .tooLong(octets: text.utf8.count) }
        guard (1...64).contains(parts[0].count) else { throw .invalidLocalPart(text) }
        guard parts[0].allSatisfy(Self.isAllowedInLocalPart) else { throw .invalidLocalPart(text) }
        let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy(Self.isLabel) else { throw .invalidDomain(text) }
        localPart = String(Substring(parts[0]))
        domain = String(Substring(parts[1])).lowercased()
    }

    /// The address in its usual form, `localPart@domain`.
    public var description: String { "\(localPart)@\(domain)" }

    private static func isAllowedInLocalPart(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || ".!#$%&'*+/=?^_`{|}~-".utf8.contains(byte)
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        guard (1...63).contains(label.count), let first = label.first, let last = label.last else { return false }
        let hyphen = UInt8(ascii: "-")
        return first != hyphen && last != hyphen && label.allSatisfy { isLetterOrDigit($0) || $0 == hyphen }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

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
