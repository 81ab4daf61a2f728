/// A person who writes posts.
///
/// A user that exists is valid: the name says something, the username is one word, and the parts (``EmailAddress``,
/// ``GeographicPoint``) keep rules of their own.
public struct User: Hashable, Identifiable, Sendable {
    /// Which user this is.
    public let id: ID
    /// The full name, without white space at its ends. Never empty.
    public let name: String
    /// The name the user signs with: one word, never empty.
    public let username: String
    /// Where mail reaches the user.
    public let email: EmailAddress
    /// A telephone number as its owner writes it. No form is required: numbering plans differ by country.
    public let phone: String
    /// A web site as its owner writes it, with or without a scheme.
    public let website: String
    /// Where post reaches the user.
    public let address: PostalAddress
    /// Where the user works.
    public let company: Company

    /// Makes a user, or says which rule its parts break.
    ///
    /// - Throws: ``UserError/blankName`` if the name is empty or only white space;
    ///   ``UserError/blankUsername`` and ``UserError/usernameIsNotOneWord(_:)`` likewise for the username.
    public init(
        id: ID,
        name: String,
        username: String,
        email: EmailAddress,
        phone: String,
        website: String,
        address: PostalAddress,
        company: Company
    ) throws(UserError) {
        let name = name.trimmingWhitespace()
        let username = username.trimmingWhitespace()
        guard !name.isEmpty else { throw .blankName }
        guard !username.isEmpty else { throw .blankUsername }
        guard !username.contains(where: \.isWhitespace) else { throw .usernameIsNotOneWord(username) }
        self.id = id
        self.name = name
        self.username = username
        self.email = email
        self.phone = phone
        self.website = website
        self.address = address
        self.company = company
    }
}
