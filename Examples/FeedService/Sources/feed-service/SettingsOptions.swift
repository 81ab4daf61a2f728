import ArgumentParser
import Configuration
import FeedService
import SystemPackage

/// The settings that all commands have, from the command line, the environment and a configuration file.
struct SettingsOptions: ParsableArguments {
    @Option(help: "The base address of the upstream. (default: the built-in sample)")
    var upstream: String?

    @Option(help: "The address that answers with tokens of users of the upstream. (default: none)")
    var tokenEndpoint: String?

    @Option(
        help: """
            The directory, or the URI of a PostgreSQL database such as postgresql://db.example.org/feed, that keeps writes across \
            restarts. (default: none, each write is sent immediately)
            """
    )
    var store: String?

    @Option(help: "The time within which each request is answered, in seconds. (default: 10)")
    var timeLimit: Double?

    @Option(help: "A configuration file in JSON. (environment: FEED_CONFIG)")
    var config: String?

    /// Returns the settings.
    ///
    /// - Parameter values: The options of the command itself.
    /// - Returns: The settings.
    /// - Throws: A `ValidationError` that names the file or the setting that is not valid.
    func settings(_ values: [AbsoluteConfigKey: ConfigValue] = [:]) async throws -> ServiceSettings {
        var values = values
        if let upstream { values["upstream"] = ConfigValue(.string(upstream), isSecret: false) }
        if let tokenEndpoint { values["tokenEndpoint"] = ConfigValue(.string(tokenEndpoint), isSecret: false) }
        if let store { values["store"] = ConfigValue(.string(store), isSecret: true) }
        if let timeLimit { values["timeLimit"] = ConfigValue(.double(timeLimit), isSecret: false) }
        let environment = EnvironmentVariablesProvider().prefixKeys(with: "feed")
        var providers: [any ConfigProvider] = [InMemoryProvider(values: values), environment]
        if let path = config ?? ConfigReader(provider: environment).string(forKey: "config") {
            do {
                providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(path)))
            } catch {
                throw ValidationError("The configuration file “\(path)” cannot be read: \(error)")
            }
        }
        do {
            return try ServiceSettings(ConfigReader(providers: providers))
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
