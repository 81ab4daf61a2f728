#if Observability
import InwardCore
public import InwardImages
public import Logging
public import Metrics

/// An observer of image loads and of the memory that they use, which writes logs and metrics.
///
///     let observer = TelemetryImageObserver()
///     let budget = DecodingBudget(bytes: 256 * 1_024 * 1_024, observer: observer)
///     let loader = ImageLoader(source: source, codec: codec, budget: budget, observer: observer)
///
/// Each load and each of its stages is timed: the fetch, the decoding, and the plugins. The gauges tell what is reserved of the
/// budget and how many loads wait for memory. The names are in the table of this module's documentation. No address is told.
/// Loads are logged at the level `debug`.
public struct TelemetryImageObserver: ImageObserver {
    private let logger: Logger
    private let loadDurations: Instruments<Timer>
    private let stageDurations: Instruments<Timer>
    private let reserved: Instruments<Meter>
    private let limits: Instruments<Meter>
    private let waiting: Instruments<Meter>

    /// Creates an observer from a logger and a metrics factory. The defaults are those of the process.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - labelSetLimit: The maximum number of label sets for each metric, at least 1. Further label sets share one instrument.
    public init(
        logger: Logger = Logger(label: "inward"),
        factory: any MetricsFactory = MetricsSystem.factory,
        labelSetLimit: Int = 2_000
    ) {
        func timers(_ label: String, by names: [String]) -> Instruments<Timer> {
            Instruments(labels: names, limit: labelSetLimit) {
                Timer(label: label, dimensions: $0, preferredDisplayUnit: .seconds, factory: factory)
            }
        }
        func meters(_ label: String) -> Instruments<Meter> {
            Instruments(labels: [AttributeName.budgetPart], limit: labelSetLimit) {
                Meter(label: label, dimensions: $0, factory: factory)
            }
        }
        self.logger = logger
        loadDurations = timers(AttributeName.imageDuration, by: [AttributeName.errorType])
        stageDurations = timers("inward.image.stage.duration", by: [AttributeName.stage, AttributeName.stageOrigin])
        reserved = meters("inward.image.budget.reserved")
        limits = meters("inward.image.budget.limit")
        waiting = meters("inward.image.queue.length")
    }

    /// Logs a load, and records its duration and those of its stages.
    public func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {
        let error: ImageError? = if case .failure(let error) = load.result { error } else { nil }
        loadDurations[[error?.category ?? ""]].record(duration: load.report.duration)
        for step in load.report.steps {
            stageDurations[[step.name, "\(step.origin)"]].record(duration: step.duration)
        }
        var attributes: [String: AttributeValue] = [
            AttributeName.imageDuration: AttributeValue(load.report.duration),
            AttributeName.stages: .text(load.report.steps.map(\.description).joined(separator: ", ")),
        ]
        if let error { attributes[AttributeName.errorType] = .text(error.category) }
        logger.debug(
            "Image load ended",
            error: error,
            metadata: .of(FetchAttributes.interaction.merging(FetchAttributes(attributes)))
        )
    }

    /// Updates the gauges of a part of the budget.
    public func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status) {
        reserved[[part.rawValue]].set(status.reservedBytes)
        limits[[part.rawValue]].set(status.limit)
        waiting[[part.rawValue]].set(status.waitingCount)
    }
}
#endif
