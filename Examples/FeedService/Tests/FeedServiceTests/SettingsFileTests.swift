import Configuration
import Foundation
import Testing

@testable import FeedService

struct SettingsFileTests {
    /// Reads the settings in a file with a text.
    private func settings(_ text: String) throws -> ServiceSettings {
        let url = URL.temporaryDirectory.appending(path: "FeedService-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(text.utf8).write(to: url)
        let file = try SettingsFile(at: url.path)
        return try ServiceSettings(ConfigReader(provider: file.provider))
    }

    @Test func settingsHaveTheTypesOfTheirValues() throws {
        let text = #"{"host": "::1", "port": 9000, "timeLimit": 5, "maximumAge": 1.0, "traceShare": 0.25}"#
        let settings = try settings(text)
        #expect(settings.host == "::1" && settings.port == 9_000 && settings.traceShare == 0.25)
        #expect(settings.timeLimit == .seconds(5) && settings.maximumAge == .seconds(1))
        #expect(try self.settings("{}") == ServiceSettings())
    }

    @Test func keyThatIsNoSettingIsNamed() throws {
        let error = #expect(throws: SettingError.self) { try settings(#"{"timeLimit": 1, "portt": 9199}"#) }
        #expect(error?.setting == "portt")
        #expect(error?.description.contains("does not exist") == true)
        let other = #expect(throws: SettingError.self) { try settings(#"{"timelimit": 1}"#) }
        #expect(other?.setting == "timelimit")
    }

    @Test(arguments: ServiceSettings.names.sorted())
    func everySettingIsReadFromTheFile(name: String) throws {
        for value in ["true", "{}", "[1]"] {
            let error = #expect(throws: SettingError.self) { try settings("{\"\(name)\": \(value)}") }
            #expect(error?.setting == name)
        }
    }

    @Test(arguments: ["", "[1", "[1]", "7", "port: 1"])
    func fileWithoutAnObjectIsRefused(text: String) throws {
        let error = #expect(throws: SettingError.self) { try settings(text) }
        #expect(error?.setting == "config")
    }

    @Test func fileThatCannotBeReadIsNamed() throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let missing = #expect(throws: SettingError.self) { try SettingsFile(at: directory.path) }
        #expect(missing?.description.contains("“\(directory.path)” does not exist") == true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let unreadable = #expect(throws: SettingError.self) { try SettingsFile(at: directory.path) }
        #expect(unreadable?.description.contains("“\(directory.path)” cannot be read") == true)
    }
}
