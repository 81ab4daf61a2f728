import Entities
import Testing

struct EmailAddressTests {
    @Test(arguments: [
        "a@b", "ada@example.org", "first.last+tag@sub.example.co", "azAZ09@az09.example",
        "!#$%&'*+/=?^_`{|}~-@x-y.example", String(repeating: "l", count: 64) + "@example.org",
    ])
    func validAddressesAreAccepted(text: String) throws {
        #expect(try EmailAddress(text).description == text)
    }

    @Test func domainIsLowercasedAndLocalPartKeepsItsCase() throws {
        let address = try EmailAddress("Ada@EXAMPLE.Org")
        #expect(address.localPart == "Ada")
        #expect(address.domain == "example.org")
        #expect(try address == EmailAddress("Ada@example.org"))
        #expect(try address != EmailAddress("ada@example.org"))
    }

    @Test(arguments: ["", "example.org", "a@b@c", "a b"])
    func addressWithoutExactlyOneAtSignIsRejected(text: String) {
        #expect(throws: EmailAddressError.notOneAtSign(text)) { try EmailAddress(text) }
    }

    @Test(arguments: [
        "@example.org", "a b@example.org", "é@example.org", "\u{0}@x", "\(String(repeating: "l", count: 65))@x",
    ])
    func invalidLocalPartIsRejected(text: String) {
        #expect(throws: EmailAddressError.invalidLocalPart(text)) { try EmailAddress(text) }
    }

    @Test(arguments: [
        "a@", "a@.", "a@x.", "a@.x", "a@x..y", "a@-x", "a@x-", "a@x_y", "a@exämple.org", "a@x y", "a@x\n",
        "a@\(String(repeating: "d", count: 64)).org",
    ])
    func invalidDomainIsRejected(text: String) {
        #expect(throws: EmailAddressError.invalidDomain(text)) { try EmailAddress(text) }
    }

    @Test func longestAddressIsAcceptedAndALongerOneIsRejected() throws {
        let label = String(repeating: "d", count: 63)
        let longest = "a@\(label).\(label).\(label).\(String(repeating: "e", count: 60))"
        #expect(longest.utf8.count == 254)
        #expect(try EmailAddress(longest).description == longest)
        #expect(throws: EmailAddressError.tooLong(octets: 255)) { try EmailAddress("a" + longest) }
    }
}
