public import Infrastructure
public import InwardCore
public import InwardFetching
public import InwardImages
public import InwardRepositories
public import InwardScopes
import UseCases

/// The objects that live as long as the app, wired by a configuration.
///
/// With what is made from it, the one place that chooses implementations. Use cases know them by their ports alone; what a
/// program needs of ring 4 itself, its output and its files, is handed out as it is.
public struct AppContainer: Container {
    /// What an app container holds.
    public struct Objects: Sendable {
        let configuration: AppConfiguration
        let timer: TimerService
        let errorHandler: ReplaceableErrorHandler
        let circuitBreaker: CircuitBreaker
        let dataFetcher: any DataFetcher
        let observer: (any FetchObserver)?
        let responseCache: ResponseCache
        let recordStore: (any RecordStore)?
        let outboxes: SessionOutboxes
        let imageCodec: any ImageCodec
        let imageCache: ImageCache
        let decodingBudget: DecodingBudget
        let titlesUnderWay: TitleReservations
        let interactionNumbers: InteractionNumbers
    }

    /// The scope of the app.
    public let scope: Scope<AppLifetime, Objects>

    /// What the upstream is called in messages.
    public let upstreamName: String

    /// Wires an app.
    ///
    /// - Parameters:
    ///   - configuration: What is chosen.
    ///   - dataFetcher: What takes the place of the configuration's upstream, such as a double. The caller closes it.
    ///     It is taken as it is, without the layers of the configuration's policy.
    ///   - recordStore: What takes the place of the configuration's store, such as a database. The caller closes it.
    ///   - observer: Observes requests; `nil` for no observer.
    ///   - clock: What deadlines, limits and freshness are told by.
    ///   - writeError: Takes a line about each failure that no caller receives; `nil` to write none.
    ///   - isWritten: Which of these failures are written.
    /// - Throws: an ``AppConfigurationError`` if the upstream is a directory that cannot be read. What had been made by then
    ///   is closed.
    public init(
        _ configuration: AppConfiguration = .sample,
        dataFetcher: (any DataFetcher)? = nil,
        recordStore: (any RecordStore)? = nil,
        observer: (any FetchObserver)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        writeError: (@Sendable (String) -> Void)? = nil,
        writingErrorsWhere isWritten: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) async throws(AppConfigurationError) {
        upstreamName = configuration.upstreamName
        let timer = TimerService(clock)
        let limit = ClosingLimit(configuration.closingLimit, on: clock)
        scope = try await Scope.open(upstreamName, limit: limit) { opening throws(AppConfigurationError) in
            // First, and so closed last: until everything else is closed, an image may be decoded.
            let imageCodec = configuration.makeImageCodec(for: &opening)
            // Next, because it carries the last reports of the error handler, which is closed before it.
            let web = dataFetcher ?? configuration.makeWebDataFetcher(for: &opening)
            let errorHandler = opening.closing(
                ReplaceableErrorHandler(
                    configuration.makeErrorHandler(
                        writeError: writeError,
                        where: isWritten,
                        dataFetcher: web,
                        clock: clock
                    )
                ),
                as: "errorHandler"
            ) { await $0.close() }
            opening.errorHandler = errorHandler
            let breaker = configuration.policy.makeCircuitBreaker(configuration.upstreamName, timer: timer)
            let source: any DataFetcher =
                if let dataFetcher {
                    dataFetcher
                } else {
                    try configuration.makeDataFetcher(
                        web: configuration.policy.pipeline(web, breaker: breaker, timer: timer)
                    )
                }
            return Objects(
                configuration: configuration,
                timer: timer,
                errorHandler: errorHandler,
                circuitBreaker: breaker,
                dataFetcher: source,
                observer: observer,
                responseCache: ResponseCache(byteLimit: configuration.cacheLimit, clock: clock),
                recordStore: recordStore ?? configuration.makeRecordStore(tellingDamageTo: errorHandler),
                outboxes: SessionOutboxes(executor: timer.executor),
                imageCodec: imageCodec,
                imageCache: ImageCache(bytes: configuration.imageCacheLimit, timer: timer),
                decodingBudget: DecodingBudget(bytes: configuration.decodingLimit),
                titlesUnderWay: TitleReservations(),
                interactionNumbers: InteractionNumbers()
            )
        }
    }

    /// Handles the failures that no caller receives, in the order that its description says, outermost first. It can be
    /// replaced while the app is running.
    ///
    /// - Throws: a `ScopeError` if the app is closed.
    public var errorHandler: ReplaceableErrorHandler {
        get throws(ScopeError) { try scope.objects().errorHandler }
    }

    /// Stops asking the upstream while it fails. It can be asked for its state, opened and closed by hand.
    ///
    /// - Throws: a `ScopeError` if the app is closed.
    public var circuitBreaker: CircuitBreaker {
        get throws(ScopeError) { try scope.objects().circuitBreaker }
    }

    /// What requests to the upstream go through, and warnings about it if there are any. Print it when a service starts.
    ///
    /// - Throws: a `ScopeError` if the app is closed.
    public var pipeline: DataFetcherPipeline {
        get throws(ScopeError) { try scope.objects().dataFetcher.pipeline }
    }

    /// What makes images of bytes, and bytes of images.
    ///
    /// - Throws: a `ScopeError` if the app is closed.
    public var imageCodec: any ImageCodec {
        get throws(ScopeError) { try scope.objects().imageCodec }
    }

    /// What keeps images in memory, a part for each session.
    ///
    /// - Throws: a `ScopeError` if the app is closed.
    public var imageCache: ImageCache {
        get throws(ScopeError) { try scope.objects().imageCache }
    }

    /// A directory to write rendered files into, named by its path.
    public func outputDirectory(at path: String) -> OutputDirectory { OutputDirectory(path: path) }

    /// What the process is given to read. It is there before any app is.
    public static let standardInput = StandardInput()

    /// Where the process writes what it was asked for. It is there before any app is.
    public static let standardOutput = StandardOutput()

    /// Interruptions of the process, from now on, instead of its end.
    public static func interruptions() -> AsyncStream<Void> { Interruptions.arriving() }

    /// What the process says beside its output. It is there before any app is.
    public static let standardError = StandardError()
}

/// As long as the process, or as the embedding program decides.
public enum AppLifetime: OutermostLifetime {
    /// `app`.
    public static let name = "app"
}

/// From signing in to signing out.
public enum UserLifetime: InnerLifetime {
    /// Inside an app.
    public typealias Outer = AppLifetime
    /// `user`.
    public static let name = "user"
}

/// As long as a user is busy with one subject.
public enum FeatureLifetime: InnerLifetime {
    /// Inside a user's session.
    public typealias Outer = UserLifetime
    /// `feature`.
    public static let name = "feature"
}

/// As long as one request or one command.
public enum InteractionLifetime: InnerLifetime {
    /// Inside a feature.
    public typealias Outer = FeatureLifetime
    /// `interaction`.
    public static let name = "interaction"
}
