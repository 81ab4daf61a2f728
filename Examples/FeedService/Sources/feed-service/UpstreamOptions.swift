import ArgumentParser
import Configuration
import FeedService

/// The settings that all commands have, from the command line, the environment and a configuration file.
struct UpstreamOptions: ParsableArguments {
    @Option(help: "The base address of the upstream. (default: the built-in sample)")
    var upstream: String?

    @Option(help: "A configuration file in JSON. (environment: FEED_CONFIG)")
    var config: String?

    /// Returns the settings.
    ///
    /// - Parameter values: The other options of the command.
    /// - Returns: The settings.
    /// - Throws: A `ValidationError` that names the setting that is not valid.
    func settings(_ values: [AbsoluteConfigKey: ConfigValue] = [:]) throws(ValidationError) -> ServiceSettings {
        var values = values
        if let upstream { values["upstream"] = ConfigValue(.string(upstream), isSecret: false) }
        let environment = EnvironmentVariablesProvider().prefixKeys(with: "feed")
        var providers: [any ConfigProvider] = [InMemoryProvider(values: values), environment]
        do throws(SettingError) {
            if let path = config ?? ConfigReader(provider: environment).string(forKey: "config") {
                providers.append(try SettingsFile(at: path).provider)
            }
            return try ServiceSettings(ConfigReader(providers: providers))
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
