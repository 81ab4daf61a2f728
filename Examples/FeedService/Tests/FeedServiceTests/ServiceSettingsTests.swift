import Configuration
import Foundation
import Testing

@testable import FeedService

struct ServiceSettingsTests {
    private func settings(_ values: [AbsoluteConfigKey: ConfigValue]) throws(SettingError) -> ServiceSettings {
        try ServiceSettings(ConfigReader(provider: InMemoryProvider(values: values)))
    }

    @Test func settingsThatAreNotGivenKeepTheirDefaults() throws {
        #expect(try settings([:]) == ServiceSettings())
    }

    @Test func everySettingIsRead() throws {
        let settings = try settings([
            "host": "::1", "port": 0, "upstream": "https://example.org/api", "timeLimit": 0.5, "maximumAge": 1,
            "staleAfter": 2, "drainLimit": 3, "connections": 4, "idleTimeout": 5,
            "tokenEndpoint": "https://example.org/token",
            "signInLifetime": 6, "store": "postgresql://db.example.org/feed", "concurrentRequests": 7,
            "requestsPerSecond": 8, "operatorPort": 9, "logFormat": "json", "traceShare": 0.25, "reuseFor": 10,
            "imageKeys":
                "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,b:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ])
        var expected = ServiceSettings()
        expected.host = "::1"
        expected.port = 0
        expected.upstream = URL(string: "https://example.org/api")
        expected.timeLimit = .seconds(0.5)
        expected.maximumAge = .seconds(1)
        expected.staleAfter = .seconds(2)
        expected.drainLimit = .seconds(3)
        expected.connections = 4
        expected.idleTimeout = .seconds(5)
        expected.tokenEndpoint = URL(string: "https://example.org/token")
        expected.signInLifetime = .seconds(6)
        expected.store = .postgreSQL("postgresql://db.example.org/feed")
        expected.concurrentRequests = 7
        expected.requestsPerSecond = 8
        expected.operatorPort = 9
        expected.logFormat = .json
        expected.traceShare = 0.25
        expected.reuseFor = .seconds(10)
        let bytes = Data(count: 32).base64EncodedString()
        expected.imageKeys = ["a:\(bytes)", "b:\(bytes)"].compactMap(ImageKey.init)
        #expect(settings == expected)
    }

    @Test(
        arguments: [
            ("port", "x", "a number from 0 to 65535"), ("port", 65_536, "a number from 0 to 65535"),
            ("port", -1, "a number from 0 to 65535"), ("port", true, "a number from 0 to 65535"),
            ("host", "", "not be empty"), ("host", 1.5, "text"),
            ("timeLimit", 0.0, "a number of seconds"), ("timeLimit", "soon", "a number of seconds"),
            ("timeLimit", 3_601.0, "a number of seconds"), ("maximumAge", -1.0, "a number of seconds"),
            ("staleAfter", -1.0, "a number of seconds"), ("drainLimit", -1.0, "a number of seconds"),
            ("connections", 0, "a number from 1"), ("idleTimeout", 0.5, "a number of seconds"),
            ("upstream", "example.org", "an address such as"), ("upstream", "ftp://example.org", "an address such as"),
            ("upstream", "https://", "an address such as"), ("tokenEndpoint", "x", "an address such as"),
            ("signInLifetime", 0.5, "a number of seconds"), ("store", "", "not be empty"),
            ("concurrentRequests", 0, "a number from 1"), ("requestsPerSecond", 0, "a number from 1"),
            ("operatorPort", 65_536, "a number from 0 to 65535"), ("imageKeys", "a:AAAA", "at least 32 bytes"),
            ("imageKeys", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,x", "at least 32 bytes"),
            ("upstream", "https://example.org/?a", "an address such as"), ("logFormat", "xml", "“text” or “json”"),
            ("traceShare", 1.1, "a number from 0.0 to 1.0"),
        ] as [(AbsoluteConfigKey, ConfigContent, String)]
    )
    func invalidSettingIsNamedWithItsRule(key: AbsoluteConfigKey, value: ConfigContent, rule: String) throws {
        let error = #expect(throws: SettingError.self) {
            try settings([key: ConfigValue(value, isSecret: false)])
        }
        #expect(error?.setting == key.components.joined())
        #expect(error?.description.contains(rule) == true)
    }

    @Test func storeIsADirectoryOrADatabase() {
        #expect(StoreLocation("data") == .directory("data"))
        #expect(StoreLocation("/var/lib/feed") == .directory("/var/lib/feed"))
        for uri in ["postgresql://x/feed", "postgres://x/feed", "PostgreSQL://x/feed"] {
            #expect(StoreLocation(uri) == .postgreSQL(uri))
        }
    }

    @Test func directoryMustHaveAStoreToLookIntoIt() throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let location = StoreLocation(directory.path)
        let missing = #expect(throws: SettingError.self) { try location.checkExistence() }
        #expect(missing?.description.contains("“\(directory.path)” does not exist") == true)
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let empty = #expect(throws: SettingError.self) { try location.checkExistence() }
        #expect(empty?.description.contains("has no store") == true)
        try Data().write(to: directory.appending(path: "records"))
        try location.checkExistence()
        try StoreLocation("postgresql://db.example.org/feed").checkExistence()
    }

    @Test func passwordOfTheUpstreamIsNotRepeated() {
        let error = #expect(throws: SettingError.self) { try settings(["upstream": "https://ada:secret@example.org"]) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func environmentVariablesAreNamedAfterTheSettings() throws {
        let environment = EnvironmentVariablesProvider(
            environmentVariables: ["FEED_PORT": "9000", "FEED_TIME_LIMIT": "2.5", "PORT": "1"]
        ).prefixKeys(with: "feed")
        let settings = try ServiceSettings(ConfigReader(provider: environment))
        #expect(settings.port == 9_000 && settings.timeLimit == .seconds(2.5))
    }
}
