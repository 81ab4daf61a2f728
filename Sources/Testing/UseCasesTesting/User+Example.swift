public import Entities

extension User {
    /// A valid user of whom nothing matters but what is given.
    ///
    /// - Throws: a `UserError` if the name is blank.
    public static func example(_ id: Int = 1, name: String = "Ada Lovelace") throws -> User {
        try User(
            id: User.ID(id),
            name: name,
            username: "user\(id)",
            email: EmailAddress("user\(id)@example.org"),
            phone: "",
            website: "",
            address: PostalAddress(
                street: "",
                suite: "",
                city: "",
                zipcode: "",
                location: GeographicPoint(latitude: 0, longitude: 0)
            ),
            company: Company(name: "Company", catchPhrase: "", business: "")
        )
    }
}
