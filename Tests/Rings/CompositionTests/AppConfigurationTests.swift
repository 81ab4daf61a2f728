import Composition
import Testing

struct AppConfigurationTests {
    private func explanation(refusing upstream: String) -> String? {
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(upstream: upstream) }?.description
    }

    @Test func withoutAnUpstreamTheSampleIsChosen() throws {
        #expect(try AppConfiguration().upstreamName == "the built-in sample")
    }

    @Test(arguments: ["http://127.0.0.1:8787", "HTTPS://example.org/api/v1/"])
    func aWebAddressIsAnUpstream(address: String) throws {
        #expect(try AppConfiguration(upstream: address).upstreamName == address)
    }

    @Test func anythingElseIsADirectory() throws {
        #expect(try AppConfiguration(upstream: "/mirror").upstreamName == "the directory /mirror/")
    }

    @Test(arguments: [
        ("ftp://example.org", "ftp://"), ("://x", "http://"), ("http://", "no host"), ("http:///path", "no host"),
        ("http://ada:secret@example.org", "password"), ("http://ada@example.org", "user name"),
        ("http://example.org/?key=secret", "“?”"), ("http://example.org/#part", "“#”"), ("", "empty"),
        ("http://example.org:99999", "65535"), ("ada:secret@example.org", "begins with http://"),
    ])
    func whatCannotBeAnUpstreamIsRefusedWithTheReason(upstream: String, reason: String) throws {
        let refusal = try #require(explanation(refusing: upstream))
        #expect(refusal.contains(reason))
        #expect(!refusal.contains("secret"))
    }

    @Test func limitsMustBePositive() {
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(idleTimeout: .zero) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(bodyLimit: 0) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(cacheLimit: -1) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(timeLimit: .zero) }
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(closingLimit: .zero) }
    }

    @Test(arguments: ["/directory", "ftp://example.org", ""])
    func anErrorCollectorIsOnTheWeb(address: String) {
        #expect(throws: AppConfigurationError.self) { try AppConfiguration(errorCollector: address) }
    }
}
