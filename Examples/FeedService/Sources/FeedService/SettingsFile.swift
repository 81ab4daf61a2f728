public import Configuration
import Foundation

/// A configuration file in JSON: an object with settings by their names.
///
/// ```swift
/// let file = try SettingsFile(at: "feed.json")
/// let settings = try ServiceSettings(ConfigReader(provider: file.provider))
/// ```
public struct SettingsFile: Sendable {
    /// The settings in the file.
    public let provider: InMemoryProvider

    /// Reads a file.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: A ``SettingError`` if the file cannot be read, or has something else than settings.
    public init(at path: String) throws(SettingError) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw SettingError("config", "must be the path of a file, and “\(path)” does not exist")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingError("config", "must be the path of a file, and “\(path)” cannot be read as one")
        }
        guard let settings = try? JSONDecoder().decode([String: Scalar].self, from: data) else {
            throw SettingError("config", "must be the path of a file with an object in JSON, and “\(path)” has none")
        }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard ServiceSettings.names.contains(name) else {
                throw SettingError(name, "in “\(path)” does not exist")
            }
            guard let content = value.content else {
                throw SettingError(name, "in “\(path)” must be text or a number")
            }
            values[AbsoluteConfigKey([name])] = ConfigValue(content, isSecret: true)
        }
        provider = InMemoryProvider(values: values)
    }
}

/// A value in JSON that can be a setting.
private struct Scalar: Decodable {
    /// The value; `nil` for an object, an array or null.
    let content: ConfigContent?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            content = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            content = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            content = .int(value)
        } else {
            content = (try? container.decode(Double.self)).map { .double($0) }
        }
    }
}
