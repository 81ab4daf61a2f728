import Testing

@testable import InwardFetching

struct HeaderFieldsTests {
    /// These names have the same key, by which names are compared first.
    @Test func namesWithTheSameKeyDiffer() throws {
        let (one, other) = (
            try #require(HeaderField.Name("fnljtbzbhgjtn")), try #require(HeaderField.Name("6yqk2c7lt2tjl"))
        )
        #expect(one.key == other.key && one != other)
    }

    @Test func namesAreFoundInAnyCase() throws {
        let fields: HeaderFields = [HeaderField(.contentType, "text/plain")]
        #expect(fields[try #require(HeaderField.Name("CONTENT-type"))] == "text/plain")
        #expect(fields[.accept] == nil)
    }

    @Test func namesInDifferentCaseAreEqual() throws {
        let names = try Set(["X-a", "x-A", "X-B"].map { try #require(HeaderField.Name($0)) })
        #expect(names.count == 2)
    }

    @Test func repeatedFieldsKeepTheirOrder() {
        var fields: HeaderFields = [HeaderField(.setCookie, "a=1"), HeaderField(.accept, "x")]
        fields.append(HeaderField(.setCookie, "b=2"))
        #expect(fields.values(of: .setCookie) == ["a=1", "b=2"])
        #expect(fields[.setCookie] == "a=1, b=2")
        #expect(fields.map(\.name) == [.setCookie, .accept, .setCookie])
    }

    @Test func settingReplacesAllRepeatedFields() {
        var fields: HeaderFields = [HeaderField(.accept, "a"), HeaderField(.accept, "b"), HeaderField(.host, "h")]
        fields[.accept] = "c"
        #expect(fields.values(of: .accept) == ["c"])
        fields[.accept] = nil
        #expect(fields.map(\.name) == [.host])
    }

    @Test func fieldsAreACollection() {
        let fields: HeaderFields = [HeaderField(.accept, "a"), HeaderField(.host, "h")]
        #expect(fields.count == 2)
        #expect(fields[1] == HeaderField(.host, "h"))
        #expect(HeaderFields(fields.reversed()).first == HeaderField(.host, "h"))
        #expect(HeaderFields().isEmpty)
    }

    @Test(arguments: ["", "a b", "a:b", "é", "a\r\nb", "\u{0}"])
    func invalidTokensAreNotNames(name: String) {
        #expect(HeaderField.Name(name) == nil)
        #expect(DataRequest.Method(name) == nil)
    }

    @Test(arguments: ["X-Custom", "!#$%&'*+-.^_`|~09az"])
    func tokensAreNames(name: String) {
        #expect(HeaderField.Name(name)?.rawValue == name)
        #expect(DataRequest.Method(name)?.rawValue == name)
    }

    @Test func valueCannotInjectAnotherField() {
        let field = HeaderField(.accept, " \ta\r\nX-Injected: b\u{0}c\t ")
        #expect(field.value == "a  X-Injected: b c")
    }

    @Test func descriptionsContainNoCredentials() throws {
        let custom = try #require(HeaderField.Name("X-Custom"))
        let fields: HeaderFields = [
            HeaderField(.authorization, "Bearer s3cret"), HeaderField(.cookie, "s3cret"),
            HeaderField(custom, "s3cret", isSensitive: true), HeaderField(.accept, "shown"),
        ]
        var dumped = ""
        dump(fields, to: &dumped)
        for text in ["\(fields)", String(reflecting: fields), dumped, "\(fields[0])", String(reflecting: fields[0])] {
            #expect(!text.contains("s3cret"))
        }
        #expect("\(fields)".contains("Accept: shown"))
        #expect("\(fields)".contains("Authorization: …"))
    }

    @Test(arguments: [
        "Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-API-Key", "X-Auth-Token",
        "X-Amz-Security-Token",
    ])
    func fieldsThatCarryCredentialsAreSensitive(name: String) throws {
        #expect(HeaderField(try #require(HeaderField.Name(name)), "s3cret").isSensitive)
    }

    @Test func sensitivityCanBeOverridden() {
        #expect("\(HeaderField(.cookie, "theme=dark", isSensitive: false))" == "Cookie: theme=dark")
    }
}
