import Entities
import Testing

struct UserTests {
    private func user(name: String = "Ada Lovelace", username: String = "ada") throws -> User {
        try User(
            id: User.ID(7),
            name: name,
            username: username,
            email: EmailAddress("ada@example.org"),
            phone: "555-0100",
            website: "example.org",
            address: PostalAddress(
                street: "St James's Square",
                suite: "12",
                city: "London",
                zipcode: "SW1Y",
                location: GeographicPoint(latitude: 51.5, longitude: -0.1)
            ),
            company: Company(name: "Analytical Engines", catchPhrase: "", business: "")
        )
    }

    @Test func userKeepsItsValues() throws {
        let user = try user()
        #expect(user.id == User.ID(7))
        #expect(user.name == "Ada Lovelace")
        #expect(user.username == "ada")
        #expect(user.email.description == "ada@example.org")
        #expect(user.phone == "555-0100")
        #expect(user.website == "example.org")
        #expect(user.address.city == "London")
        #expect(user.company.name == "Analytical Engines")
    }

    @Test func namesAreTrimmed() throws {
        let user = try user(name: "\t Ada Lovelace\n", username: " ada ")
        #expect(user.name == "Ada Lovelace")
        #expect(user.username == "ada")
    }

    @Test(arguments: ["", " ", "\n\t\u{2003}"])
    func blankNamesAreRejected(blank: String) {
        #expect(throws: UserError.blankName) { try user(name: blank) }
        #expect(throws: UserError.blankUsername) { try user(username: blank) }
        #expect(throws: CompanyError.blankName) { try Company(name: blank, catchPhrase: "x", business: "x") }
    }

    @Test func usernameOfTwoWordsIsRejected() {
        #expect(throws: UserError.usernameIsNotOneWord("ada l")) { try user(username: "ada l") }
    }

    @Test func identitiesAreOrderedByNumber() {
        #expect(User.ID(2) < User.ID(10))
        #expect(User.ID(10).description == "10")
    }
}
