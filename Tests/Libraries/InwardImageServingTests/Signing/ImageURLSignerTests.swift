import InwardFetching
import InwardImages
import TestSupport
import Testing

@testable import InwardImageServing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct ImageURLSignerTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let address: ImageAddress = "avatars/7.jpg"
    private let signer: ImageURLSigner
    private let recipe: ImageRecipe

    init() throws {
        signer = try .stub()
        recipe = try ImageRecipe("resize=640x480,mode=fill;blur=2.5")
    }

    private func reason(_ path: String, _ signer: ImageURLSigner? = nil, at date: Date = now) -> ImageURLError.Reason? {
        do throws(ImageURLError) {
            _ = try (signer ?? self.signer).verify(path, at: date)
            return nil
        } catch {
            return error.reason
        }
    }

    private func segments(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    @Test(arguments: [
        "avatars/7.jpg", "https://ada:pw@example.org/a?b=c#d", "../secret", "a%2F..%2fb", "Ünïcödé/图像.png", "👩‍👩‍👧", "a b",
        "/", ".",
    ])
    func verifiedPathIsWhatWasSigned(address: String) throws {
        let path = try signer.path(to: ImageAddress(address), recipe)
        let image = try signer.verify(path, at: Self.now)
        #expect(image == SignedImage(address: ImageAddress(address), recipe: recipe, expiry: nil))
        // Three segments that nobody has to escape.
        #expect(path.split(separator: "/", omittingEmptySubsequences: false).count == 3)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=/")
        #expect(path.allSatisfy(allowed.contains))
    }

    @Test func pathHasThisForm() throws {
        let path = try signer.path(to: Self.address, recipe, expiry: Self.now)
        let parts = segments(path)
        #expect(parts[0].hasPrefix("k1.") && parts[0].hasSuffix(".1800000000"))
        #expect(parts[1] == "resize=640x480,mode=fill;blur=2.5")
        #expect(parts[2] == "YXZhdGFycy83LmpwZw")
    }

    @Test func pathIsValidUntilItExpires() throws {
        let expiry = Self.now.addingTimeInterval(10)
        let path = try signer.path(to: Self.address, recipe, expiry: expiry.addingTimeInterval(0.9))
        #expect(try signer.verify(path, at: Self.now).expiry == expiry)
        #expect(reason(path, at: expiry.addingTimeInterval(-0.5)) == nil)
        #expect(reason(path, at: expiry) == .expired)
        #expect(reason(path, at: .distantFuture) == .expired)
    }

    @Test func forgedPathThatHasExpiredIsForged() throws {
        let path = try signer.path(to: Self.address, recipe, expiry: Self.now)
        #expect(reason(path) == .expired)
        #expect(reason(path.replacing("blur=2.5", with: "blur=2.6")) == .invalidSignature)
    }

    @Test func signatureOfAnotherRecipeAddressOrExpiryIsInvalid() throws {
        let path = try signer.path(to: Self.address, recipe, expiry: Self.now.addingTimeInterval(10))
        let other = try signer.path(to: "avatars/8.jpg", ImageRecipe("orient"), expiry: Self.now.addingTimeInterval(11))
        let (mine, theirs) = (segments(path), segments(other))
        #expect(reason("\(mine[0])/\(theirs[1])/\(mine[2])") == .invalidSignature)
        #expect(reason("\(mine[0])/\(mine[1])/\(theirs[2])") == .invalidSignature)
        #expect(reason("\(theirs[0])/\(mine[1])/\(mine[2])") == .invalidSignature)
        #expect(reason(path.replacing(".1800000010/", with: ".1800000011/")) == .invalidSignature)
        #expect(reason(path.replacing(".1800000010/", with: ".01800000010/")) == .invalidSignature)
        #expect(reason(path.replacing(".1800000010/", with: "/")) == .invalidSignature)
        let lasting = try signer.path(to: Self.address, recipe)
        #expect(reason(lasting.replacing("/resize", with: ".1900000000/resize")) == .invalidSignature)
    }

    @Test func otherTextOfASignedRecipeIsInvalid() throws {
        // A cache would otherwise keep an image under any number of URLs.
        let path = try signer.path(to: Self.address, recipe)
        #expect(try ImageRecipe("resize=640x480,mode=fill;blur=2.50") == recipe)
        #expect(reason(path.replacing("blur=2.5", with: "blur=2.50")) == .invalidSignature)
        #expect(reason(path.replacing("=", with: "%3D")) == .invalidSignature)
        #expect(reason(path.replacing("resize", with: "r%65size")) == .invalidSignature)
    }

    @Test func everyChangeOfOneCharacterIsInvalid() throws {
        let path = try signer.path(to: Self.address, recipe, expiry: Self.now.addingTimeInterval(10))
        for index in path.indices {
            for character in ["A", "0", "/", ".", "-", "\u{0}", ";"] where Character(character) != path[index] {
                var changed = path
                changed.replaceSubrange(index...index, with: character)
                #expect(reason(changed) == .invalidSignature, "\(changed.debugDescription)")
            }
            var shorter = path
            shorter.remove(at: index)
            // Removing one of two equal neighbors gives the same text for either.
            #expect(shorter == path || reason(shorter) == .invalidSignature, "\(shorter)")
        }
    }

    @Test(arguments: [
        "", "/", "//", "///", "k1./orient/YQ", "k1/orient/YQ", ".AAAA/orient/YQ", "k1.AAAA/orient/YQ/",
        "/k1.AAAA/orient/YQ",
        "k1.AAAA.1.1/orient/YQ", "k1.AAAA./orient/YQ", "k1.AAAA.-1/orient/YQ", "k1.AAAA.99999999999999999999/orient/YQ",
        "k1.AAAA.9223372036854775808/orient/YQ", "k1.AAAA.１/orient/YQ", "k1.AAA=/orient/YQ", "k1.AA+A/orient/YQ",
        "k1.AAAA/../YQ",
        "k1.AAAA/./YQ", "k1.AAAA/orient/..%2F", "%2e%2e/orient/YQ", "k1.AAAA/orient\u{0}/YQ", "k1.AAAA/;;/YQ",
        "k\u{301}1.AAAA/orient/YQ",
        "k1.AAAA/orient/YQ?a=b", "k1.AAAA\\orient\\YQ",
    ])
    func malformedPathIsAnInvalidSignature(path: String) {
        #expect(reason(path) == .invalidSignature)
    }

    @Test func overlongPartsAreRefusedBeforeTheirCodeIsComputed() throws {
        let counting = CountingAuthenticator()
        let key = try #require(ImageSigningKey(id: "k1", counting))
        let signer = ImageURLSigner(signingWith: key)
        let long = String(repeating: "A", count: 5_000_000)
        for path in ["k1.\(long)/orient/YQ", "k1.AAAA/\(long)/YQ", "k1.AAAA/orient/\(long)", "\(long)/orient/YQ", long]
        {
            #expect(reason(path, signer) == .invalidSignature)
        }
        let code = String(repeating: "A", count: 100)
        #expect(reason("k1.\(code)/orient/YQ", signer) == .invalidSignature)
        #expect(reason("k1.AAAA.\(code)/orient/YQ", signer) == .invalidSignature)
        #expect(reason("k2.AAAA/orient/YQ", signer) == .invalidSignature)
        #expect(counting.count.value == 0)
        #expect(reason("k1.AAAA/orient/YQ", signer) == .invalidSignature)
        #expect(counting.count.value == 1)
    }

    @Test func firstKeySignsAndAllKeysVerify() throws {
        let (old, new) = (try ImageSigningKey.stub(1, id: "old"), try ImageSigningKey.stub(2, id: "new"))
        let before = ImageURLSigner(signingWith: old)
        let during = ImageURLSigner(signingWith: new, verifyingWith: [old])
        let after = ImageURLSigner(signingWith: new)
        let (oldPath, newPath) = (try before.path(to: Self.address, recipe), try during.path(to: Self.address, recipe))
        #expect(newPath.hasPrefix("new."))
        #expect(reason(oldPath, during) == nil && reason(newPath, during) == nil && reason(newPath, after) == nil)
        #expect(reason(oldPath, after) == .invalidSignature)
        #expect(reason(newPath, before) == .invalidSignature)
    }

    @Test func signatureUnderTheIdentifierOfAnotherKeyIsInvalid() throws {
        let (first, second) = (try ImageSigningKey.stub(1, id: "a"), try ImageSigningKey.stub(2, id: "b"))
        let signer = ImageURLSigner(signingWith: first, verifyingWith: [second])
        let path = try signer.path(to: Self.address, recipe)
        #expect(reason("b" + path.dropFirst(), signer) == .invalidSignature)
        // Even with the same secret, because the code covers the identifier.
        let same = ImageURLSigner(signingWith: first, verifyingWith: [try .stub(1, id: "b")])
        #expect(reason("b" + path.dropFirst(), same) == .invalidSignature)
    }

    @Test func beginningOfACodeIsInvalid() throws {
        let path = try signer.path(to: Self.address, recipe)
        let code = String(try #require(segments(path)[0].split(separator: ".").last))
        for length in 0..<code.count {
            #expect(reason(path.replacing(code, with: code.prefix(length))) == .invalidSignature)
        }
    }

    @Test func partsCannotBeShiftedIntoEachOther() throws {
        // The same characters, split in another way.
        let authenticator = RecordingAuthenticator()
        let signer = ImageURLSigner(signingWith: try #require(ImageSigningKey(id: "k1", authenticator)))
        _ = try signer.path(to: "avatars/7.jpg", ImageRecipe("orient"), expiry: Date(timeIntervalSince1970: 11))
        for path in [
            "k1.AAAA.1/1orient/YXZhdGFycy83LmpwZw", "k1.AAAA.11/orientY/XZhdGFycy83LmpwZw",
            "k1.AAAA/11orient/YXZhdGFycy83LmpwZw",
        ] {
            #expect(reason(path, signer) == .invalidSignature)
        }
        let messages = authenticator.messages
        #expect(messages.count == 4 && Set(messages).count == 4)
    }

    @Test(arguments: ["", "a\u{0}b", "a\nb", "a\u{7F}", String(repeating: "a", count: 2_049)])
    func addressOutsideTheLimitsIsNotSigned(address: String) {
        let error = #expect(throws: ImageURLError.self) { try signer.path(to: ImageAddress(address), recipe) }
        #expect(error?.reason == .invalidAddress)
    }

    @Test func longestAddressAndRecipeFitIntoAPath() throws {
        let address = ImageAddress(String(repeating: "ä", count: 1_024))
        let mark = ImageRecipe.TextWatermark(String(repeating: "a", count: 64))
        let recipe = try ImageRecipe(steps: [ImageRecipe.Step](repeating: .watermark(mark), count: 5))
        let path = try signer.path(to: address, recipe, expiry: Self.now.addingTimeInterval(1))
        #expect(try signer.verify(path, at: Self.now).address == address)
    }

    @Test(arguments: [-1, 1e11, .infinity, -.infinity, .nan] as [TimeInterval])
    func expiryOutsideTheLimitsIsNotSigned(seconds: TimeInterval) {
        let error = #expect(throws: ImageURLError.self) {
            try signer.path(to: Self.address, recipe, expiry: Date(timeIntervalSince1970: seconds))
        }
        #expect(error?.reason == .invalidExpiry)
    }

    @Test func signedPartsThatCannotBeReadHaveReasonsOfTheirOwn() throws {
        let signer = ImageURLSigner(signingWith: try #require(ImageSigningKey(id: "k1", TrustingAuthenticator())))
        #expect(reason("k1.AAAA/resize=0x1/YQ", signer) == .invalidRecipe)
        #expect(reason("k1.AAAA/orient/AA", signer) == .invalidAddress)
        #expect(reason("k1.AAAA/orient/_w", signer) == .invalidAddress)
        #expect(reason("k1.AAAA/orient/YR", signer) == .invalidAddress)
        #expect(reason("k1.AAAA/orient/", signer) == .invalidAddress)
    }

    @Test(arguments: ["", "a.b", "a/b", "ä", "a b", "12345678901234567", "a\u{0}"])
    func keyIdentifierThatDoesNotFitIsRefused(id: String) {
        #expect(ImageSigningKey(id: id, StubAuthenticator(key: 1)) == nil)
    }

    @Test func statusTellsForgedFromExpired() {
        #expect(ProblemDetails(ImageURLError.invalidSignature).status == 403)
        #expect(ProblemDetails(ImageURLError.expired).status == 410)
        #expect(ProblemDetails(ImageURLError.invalidAddress).status == 422)
    }
}
