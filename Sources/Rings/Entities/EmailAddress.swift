/// An email address, such as `ada@example.org`.
///
/// ```swift
/// let email = try EmailAddress("Ada@Example.org")
/// print(email)  // Ada@example.org
/// ```
///
/// Valid addresses are those that the WHATWG HTML standard accepts in an email field, within the length limits of RFC 5321
/// section 4.5.3.1: 64 octets before the `@` and 254 in total. Quoted local parts, comments, address literals and non-ASCII
/// characters are rejected.
public struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The part before the `@`. Its case is preserved, because only the receiving host may interpret it.
    public let localPart: String
    /// The host name in lower case. Host names are case-insensitive (RFC 5321 section 2.4).
    public let domain: String

    /// Creates an address from its text form, `localPart@domain`.
    ///
    /// - Complexity: O(n) in the length of `text`.
    /// - Throws: An ``EmailAddressError`` with the first rule that the text violates.
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

    /// The address in its text form, `localPart@domain`.
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

/// A violated rule of ``EmailAddress``.
///
/// ```swift
/// do {
///     _ = try EmailAddress("ada.example.org")
/// } catch .notOneAtSign {
///     print("Did you forget the @?")
/// } catch {
///     print(error)
/// }
/// ```
public enum EmailAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The given text does not contain exactly one `@`.
    case notOneAtSign(String)
    /// The text is longer than 254 octets. The value is its length.
    case tooLong(octets: Int)
    /// The part before the `@` in the given text is empty, longer than 64 octets, or contains a character that is not allowed.
    case invalidLocalPart(String)
    /// The part after the `@` in the given text is not a host name.
    case invalidDomain(String)

    /// The rule as a sentence to show to a person.
    public var description: String {
        switch self {
        case .notOneAtSign(let text): "An email address must contain exactly one “@”, but “\(text)” does not."
        case .tooLong(let octets): "An email address can have at most 254 octets, but this one has \(octets)."
        case .invalidLocalPart(let text):
            "The part before the “@” in “\(text)” is empty, too long, or contains a character that is not allowed."
        case .invalidDomain(let text): "The part after the “@” in “\(text)” is not a host name."
        }
    }
}
