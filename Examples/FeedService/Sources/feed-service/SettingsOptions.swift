import ArgumentParser
import Configuration
import FeedService

/// The settings of the commands that use the store.
struct SettingsOptions: ParsableArguments {
    @OptionGroup var source: UpstreamOptions

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

    /// Returns the settings.
    ///
    /// - Parameter values: The options of the command itself.
    /// - Returns: The settings.
    /// - Throws: A `ValidationError` that names the setting that is not valid.
    func settings(_ values: [AbsoluteConfigKey: ConfigValue] = [:]) throws(ValidationError) -> ServiceSettings {
        var values = values
        if let tokenEndpoint { values["tokenEndpoint"] = ConfigValue(.string(tokenEndpoint), isSecret: false) }
        if let store { values["store"] = ConfigValue(.string(store), isSecret: true) }
        if let timeLimit { values["timeLimit"] = ConfigValue(.double(timeLimit), isSecret: false) }
        return try source.settings(values)
    }
}
