import ArgumentParser
import Configuration
import FeedService
import InwardCore
import InwardObservability
import Logging
import SystemPackage

/// Starts the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answers requests until it is interrupted."
    )

    @Option(help: "The address to listen on. (default: 127.0.0.1)")
    var host: String?

    @Option(help: "The port to listen on, or 0 for any that is free. (default: 8080)")
    var port: Int?

    @Option(help: "The base address of the upstream. (default: the built-in sample)")
    var upstream: String?

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

    private var givenValues: [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        if let host { values["host"] = ConfigValue(.string(host), isSecret: false) }
        if let port { values["port"] = ConfigValue(.int(port), isSecret: false) }
        if let upstream { values["upstream"] = ConfigValue(.string(upstream), isSecret: false) }
        if let store { values["store"] = ConfigValue(.string(store), isSecret: true) }
        if let timeLimit { values["timeLimit"] = ConfigValue(.double(timeLimit), isSecret: false) }
        return values
    }

    private var reader: ConfigReader {
        get async throws {
            let environment = EnvironmentVariablesProvider().prefixKeys(with: "feed")
            var providers: [any ConfigProvider] = [InMemoryProvider(values: givenValues), environment]
            if let path = config ?? ConfigReader(provider: environment).string(forKey: "config") {
                do {
                    providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(path)))
                } catch {
                    throw ValidationError("The configuration file “\(path)” cannot be read: \(error)")
                }
            }
            return ConfigReader(providers: providers)
        }
    }

    func run() async throws {
        let settings: ServiceSettings
        do {
            settings = try ServiceSettings(try await reader)
        } catch let error as SettingError {
            throw ValidationError("\(error)")
        }
        let logger = Logger(label: "feed-service") { StreamLogHandler.standardError(label: $0) }
        let app = try await FeedApp(settings, errorHandler: IgnoringErrorHandler().logging(with: logger))
        try await FeedServer(app, settings).run(logger: logger) { port in
            let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
            logger.info("Listening on http://\(host):\(port)")
        }
    }
}
