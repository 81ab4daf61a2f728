import Testing

@testable import InwardImages

struct ImageAddressTests {
    @Test(arguments: [
        ("https://example.org/cat.jpg", "https://example.org/cat.jpg"),
        ("https://ada:secret@example.org/cat.jpg?token=secret#part", "https://example.org/cat.jpg"),
        ("https://example.org?token=a@b", "https://example.org"),
        ("https://a@b@example.org/c@d", "https://example.org/c@d"),
        ("avatars/7.jpg?size=3", "avatars/7.jpg"),
        ("//ada:secret@example.org/cat.jpg", "//example.org/cat.jpg"),
        ("https:/ada:secret@example.org/cat.jpg", "https:/example.org/cat.jpg"),
        ("data:image/png;base64,c2VjcmV0", "data:…"), ("DATA:,secret", "data:…"),
        ("avatars/a@b.jpg", "avatars/a@b.jpg"), ("a@b.jpg", "a@b.jpg"),
        ("https://", "https://"), ("", ""), ("#", ""),
    ])
    func descriptionOmitsSecrets(address: String, description: String) {
        #expect(ImageAddress(address).description == description)
        #expect(ImageAddress(address).rawValue == address)
    }
}
