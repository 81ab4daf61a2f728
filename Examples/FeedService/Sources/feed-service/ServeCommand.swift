import ArgumentParser
import Configuration
import FeedService
import InwardCore
import InwardObservability
import InwardScopes
import Logging
import Metrics
import Tracing

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

    @Option(help: "The port for operators on 127.0.0.1, with metrics and the outbox. (default: 8081)")
    var operatorPort: Int?

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        if let host { values["host"] = ConfigValue(.string(host), isSecret: false) }
        if let port { values["port"] = ConfigValue(.int(port), isSecret: false) }
        if let operatorPort { values["operatorPort"] = ConfigValue(.int(operatorPort), isSecret: false) }
        let settings = try options.settings(values)
        let logger = settings.logFormat.logger("feed-service")
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        if let tracer = settings.tracer(logger) { InstrumentationSystem.bootstrap(tracer) }
        let app = try await FeedApp(
            settings,
            errorHandler: IgnoringErrorHandler().logging(with: logger),
            observers: AppObservers(
                fetching: TelemetryFetchObserver(logging: LoggingFetchObserver(logger: logger)),
                repositories: TelemetryRepositoryObserver(logger: logger),
                sessions: TelemetrySessionObserver(logger: logger)
            )
        )
        let operators = OperatorServer(app, settings, metrics)
        do {
            try await FeedServer(app, settings).run(for: operators, logger: logger) { port in
                let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
                logger.info("Listening on http://\(host):\(port)")
            }
        } catch let error as SettingError {
            throw ValidationError("\(error)")
        }
    }
}
