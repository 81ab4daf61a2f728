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
