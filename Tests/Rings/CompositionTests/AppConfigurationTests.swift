import Composition
import Testing

struct AppConfigurationTests {
    private func explanation(refusing upstream: String) -> String? {
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(upstream: upstream) }?.description
    }

    @Test func upstreamIsTheSampleByDefault() throws {
        #expect(try AppConfiguration().upstreamName == "the built-in sample")
    }

    @Test(arguments: ["http://127.0.0.1:8787", "HTTPS://example.org/api/v1/"])
    func webAddressIsAnUpstream(address: String) throws {
        #expect(try AppConfiguration(upstream: address).upstreamName == address)
    }

    @Test func anyOtherTextIsADirectory() throws {
        #expect(try AppConfiguration(upstream: "/mirror").upstreamName == "the directory /mirror/")
    }

    @Test(arguments: [
        ("ftp://example.org", "ftp://"), ("://x", "http://"), ("http://", "no host"), ("http:///path", "no host"),
        ("http://ada:secret@example.org", "password"), ("http://ada@example.org", "user name"),
        ("http://example.org/?key=secret", "“?”"), ("http://example.org/#part", "“#”"), ("", "empty"),
        ("http://example.org:99999", "65535"), ("ada:secret@example.org", "must begin with http://"),
    ])
    func invalidUpstreamIsRejectedWithTheReason(upstream: String, reason: String) throws {
        let refusal = try #require(explanation(refusing: upstream))
        #expect(refusal.contains(reason))
        #expect(!refusal.contains("secret"))
    }

    @Test(arguments: [
        ("", "empty"), ("mysql://ada:secret@host/shop", "begin with postgresql://"),
        ("host=db password=secret", "must not contain a password"), ("PostgreSQL://ada:secret@host/shop", "begin with"),
    ])
    func invalidStoreIsRejectedWithTheReason(store: String, reason: String) throws {
        let refusal = try #require(#expect(throws: AppConfigurationError.self) { try AppConfiguration(store: store) })
        #expect(refusal.description.contains(reason))
        #expect(!refusal.description.contains("secret"))
    }

    @Test func databaseIsAStoreIfTheTraitIsEnabled() throws {
        #if PostgreSQL
        _ = try AppConfiguration(store: "postgresql://ada@host/shop")
        #else
        let refusal = #expect(throws: AppConfigurationError.self) {
            try AppConfiguration(store: "postgresql://ada:secret@host/shop")
        }
        #expect(refusal?.description == "This program was built without PostgreSQL. Build it with --traits PostgreSQL.")
        #endif
    }

    @Test func limitsMustBePositive() {
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(idleTimeout: .zero) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(bodyLimit: 0) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(cacheLimit: -1) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(timeLimit: .zero) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(closingLimit: .zero) }
    }

    @Test(arguments: ["/directory", "ftp://example.org", ""])
    func errorCollectorMustBeAWebAddress(address: String) {
        let error = #expect(throws: AppConfigurationError.self) { try AppConfiguration(errorCollector: address) }
        let beginning = "The error collector's address must begin with http:// or https://"
        #expect(error?.description.hasPrefix(beginning) == true)
    }
}
