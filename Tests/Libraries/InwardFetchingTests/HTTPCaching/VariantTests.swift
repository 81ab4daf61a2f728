import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

struct VariantTests {
    private func request(_ fields: HeaderField...) throws -> CacheRequest {
        CacheRequest(try .example(headerFields: HeaderFields(fields)))
    }

    private func makeVariant(_ vary: String..., for request: CacheRequest, policy: CachePolicy = .shared) -> Variant? {
        let response = DataResponse(headerFields: HeaderFields(vary.map { HeaderField(.vary, $0) }))
        return Variant(of: response, for: request, policy: policy)
    }

    @Test func responsesWithoutVaryMatchEveryRequest() throws {
        let variant = try #require(makeVariant(for: request()))
        #expect(variant.matches(try request(HeaderField(.accept, "text/plain"))))
    }

    @Test(arguments: ["*", "Accept, *", "*, *", ", *", "a b"])
    func starsMatchNoRequest(vary: String) throws {
        #expect(makeVariant(vary, for: try request()) == nil)
        #expect(makeVariant("Accept", vary, for: try request()) == nil)
    }

    @Test func aResponseDependsOnAtMost64Fields() throws {
        let names = (0..<64).map { "X-\($0)" }.joined(separator: ", ")
        #expect(try makeVariant(names, names, for: request()) != nil)
        #expect(try makeVariant(names, "X-64", for: request()) == nil)
    }

    @Test func namedFieldsMustBeEqual() throws {
        let plain = try request(HeaderField(.accept, "text/plain"))
        let variant = try #require(makeVariant("accept,Accept-Language", for: plain))
        #expect(variant.matches(plain))
        #expect(variant.matches(try request(HeaderField(.accept, "text/plain"), HeaderField(.cookie, "a=b"))))
        #expect(!variant.matches(try request(HeaderField(.accept, "text/html"))))
        #expect(!variant.matches(try request()))
        #expect(!variant.matches(try request(HeaderField(.accept, "text/plain"), HeaderField(.acceptLanguage, "en"))))
        // An empty field is not a missing one.
        #expect(!variant.matches(try request(HeaderField(.accept, "text/plain"), HeaderField(.acceptLanguage, ""))))
    }

    @Test(arguments: [
        (["1, 2"], ["1,2"]), (["1, 2"], ["1", "2"]), ([" 1 ,, 2 "], ["1,2"]), ([#""a, b",c"#], [#""a, b" , c"#]),
    ])
    func spacesAndLinesOfListsMakeNoDifference(first: [String], second: [String]) throws {
        let name = try #require(HeaderField.Name("X-List"))
        func request(_ values: [String]) throws -> CacheRequest {
            CacheRequest(try .example(headerFields: HeaderFields(values.map { HeaderField(name, $0) })))
        }
        let variant = try #require(makeVariant("X-List", for: request(first)))
        #expect(variant.matches(try request(second)))
        #expect(variant == makeVariant("x-list", for: try request(second)))
    }

    @Test(arguments: [("1, 2", "2, 1"), ("a", "A"), (#""a, b""#, #""a,b""#), ("1 2", "12")])
    func otherDifferencesOfUnknownFieldsMatter(first: String, second: String) throws {
        let name = try #require(HeaderField.Name("X-List"))
        let variant = try #require(makeVariant("X-List", for: request(HeaderField(name, first))))
        #expect(!variant.matches(try request(HeaderField(name, second))))
    }

    @Test(arguments: [HeaderField.Name.acceptLanguage, .acceptEncoding, .acceptCharset])
    func orderAndCaseOfPreferencesMakeNoDifference(name: HeaderField.Name) throws {
        let variant = try #require(makeVariant(name.rawValue, for: request(HeaderField(name, "en, de;q=0.5"))))
        #expect(variant.matches(try request(HeaderField(name, "DE; q=0.5,En"))))
        #expect(!variant.matches(try request(HeaderField(name, "de, en;q=0.5"))))
        #expect(!variant.matches(try request(HeaderField(name, "en"))))
    }

    @Test func cachesForOneUserKeepCredentialsApart() throws {
        let ada = try request(HeaderField(.authorization, "Bearer a"))
        let charles = try request(HeaderField(.authorization, "Bearer c"))
        for request in [ada, try request()] {
            let variant = try #require(makeVariant(for: request, policy: .private))
            #expect(variant.matches(request))
            #expect(!variant.matches(charles))
        }
        #expect(try #require(makeVariant(for: ada)).matches(charles))
    }

    /// They replace one another, whether or not `Vary` names the credentials.
    @Test func placeOfTheCredentialsMakesNoDifference() throws {
        let ada = try request(HeaderField(.authorization, "Bearer a"))
        let variants = try ["Accept, Authorization", "Authorization, Accept", "Accept"].map {
            try #require(makeVariant($0, for: ada, policy: .private))
        }
        #expect(Set(variants).count == 1)
    }
}
