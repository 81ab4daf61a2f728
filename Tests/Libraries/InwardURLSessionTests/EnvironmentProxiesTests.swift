import Foundation
import Testing

@testable import InwardURLSession

struct EnvironmentProxiesTests {
    private func variable(_ environment: [String: String], _ address: String) throws -> String? {
        EnvironmentProxies(environment).variable(for: try #require(URL(string: address)))
    }

    @Test(arguments: [
        ("http_proxy", "http://a.test/", true), ("http_proxy", "HTTP://a.test:81/", true),
        ("http_proxy", "https://a.test/", false), ("HTTP_PROXY", "http://a.test/", false),
        ("https_proxy", "https://a.test/", true), ("HTTPS_PROXY", "https://a.test/", true),
        ("https_proxy", "http://a.test/", false), ("all_proxy", "http://a.test/", true),
        ("ALL_PROXY", "https://a.test/", true), ("PROXY", "http://a.test/", false),
    ])
    func eachVariableAppliesToItsScheme(name: String, address: String, leads: Bool) throws {
        #expect(try variable([name: "http://proxy.test"], address) == (leads ? name : nil))
        #expect(try variable([name: ""], address) == nil)
    }

    @Test(arguments: [
        ("*", "http://a.test/", true), ("a.test", "http://a.test/", true), ("A.test", "http://a.TEST:81/", true),
        ("b.test, a.test", "http://a.test/", true), (".a.test", "http://b.a.test/", true),
        ("a.test", "http://b.a.test/", true), ("127.0.0.1", "http://127.0.0.1:81/", true),
        ("a.test", "http://ba.test/", false), ("b.a.test", "http://a.test/", false),
        ("*,b.test", "http://a.test/", false),
        ("0.0.1", "http://127.0.0.1/", false), ("127.0.0.0/8", "http://127.0.0.1/", false),
        ("", "http://a.test/", false),
        (",,", "http://a.test/", false), (".", "http://a.test./", false), ("a.test b.test", "http://a.test/", false),
    ])
    func exemptHostNeedsNoProxy(list: String, address: String, isExempt: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let environment = ["all_proxy": "http://proxy.test", name: list]
            #expect(try variable(environment, address) == (isExempt ? nil : "all_proxy"))
        }
    }

    @Test func lowercaseExemptionListTakesPrecedence() throws {
        let environment = ["http_proxy": "http://proxy.test", "no_proxy": "b.test", "NO_PROXY": "*"]
        #expect(try variable(environment, "http://a.test/") == "http_proxy")
        #expect(try variable(environment.merging(["no_proxy": ""]) { _, new in new }, "http://a.test/") == nil)
    }
}
