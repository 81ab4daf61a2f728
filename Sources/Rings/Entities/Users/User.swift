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

extension User {
    /// The identity of a user, given by whoever keeps the users.
    public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
        /// The number itself. Any number can be an identity.
        public let rawValue: Int

        /// Makes the identity with this number.
        public init(_ rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Orders identities by their number.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The number in decimal digits.
        public var description: String { String(rawValue) }
    }
}

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

/// A company, as somebody who works there presents it.
public struct Company: Hashable, Sendable {
    /// What the company is called. Never empty.
    public let name: String
    /// What the company says of itself.
    public let catchPhrase: String
    /// What the company does.
    public let business: String

    /// Makes a company, or says that its name is missing.
    ///
    /// - Throws: ``CompanyError/blankName`` if the name is empty or only white space.
    public init(name: String, catchPhrase: String, business: String) throws(CompanyError) {
        let name = name.trimmingWhitespace()
        guard !name.isEmpty else { throw .blankName }
        self.name = name
        self.catchPhrase = catchPhrase
        self.business = business
    }
}

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

extension String {
    /// This text without the white space and line breaks at its ends.
    func trimmingWhitespace() -> String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
