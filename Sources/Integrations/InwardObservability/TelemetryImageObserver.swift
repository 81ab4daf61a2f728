#if Observability
import InwardCore
public import InwardImages
public import Logging
public import Metrics
public import Tracing

/// An observer of image loads and of the memory that they use, which writes logs, metrics and traces.
///
///     let observer = TelemetryImageObserver()
///     let budget = DecodingBudget(bytes: 256 * 1_024 * 1_024, observer: observer)
///     let loader = ImageLoader(source: source, codec: codec, budget: budget, observer: observer)
///
/// Each load and each of its stages is timed: the fetch, the decoding, and the plugins. A load is a span of the kind `internal`.
/// Its attributes list the stages in order: their names, origins, durations in seconds, and bytes. Requests for its image are
/// spans inside of it, unless a concurrent load makes them. The gauges tell what is reserved of the budget and how many loads wait
/// for memory. The names are in the table of this module's documentation. No address is told. Loads are logged at the level
/// `debug`.
public struct TelemetryImageObserver: ImageObserver {
    private let logger: Logger
    private let tracer: any Tracer
    private let loadDurations: Instruments<Timer>
    private let stageDurations: Instruments<Timer>
    private let reserved: Instruments<Meter>
    private let limits: Instruments<Meter>
    private let waiting: Instruments<Meter>

    /// Creates an observer from a logger, a metrics factory and a tracer. The defaults are those of the process.
    ///
    /// - Parameters:
    ///   - logger: The logger of the records.
    ///   - factory: The factory of the instruments.
    ///   - tracer: The tracer of the spans.
    ///   - labelSetLimit: The maximum number of label sets for each metric, at least 1. Further label sets share one instrument.
    public init(
        logger: Logger = Logger(label: "inward"),
        factory: any MetricsFactory = MetricsSystem.factory,
        tracer: any Tracer = InstrumentationSystem.tracer,
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
        self.tracer = tracer
        loadDurations = timers(AttributeName.imageDuration, by: [AttributeName.errorType])
        stageDurations = timers(AttributeName.stageDuration, by: [AttributeName.stage, AttributeName.stageOrigin])
        reserved = meters("inward.image.budget.reserved")
        limits = meters("inward.image.budget.limit")
        waiting = meters("inward.image.queue.length")
    }

    /// Loads an image in a span.
    public func surroundLoad(_ address: ImageAddress, _ load: () async -> ImageLoad) async -> ImageLoad {
        let span = tracer.startSpan("load image", ofKind: .internal)
        defer { span.end() }
        if span.isRecording { span.updateAttributes { $0.merge(.interaction) } }
        let loaded = await ServiceContext.withValue(span.context) { await load() }
        guard span.isRecording else { return loaded }
        span.updateAttributes { $0.merge(loaded.report.steps) }
        switch loaded.result {
        case .success(let image):
            let (width, height) = (AttributeValue.integer(image.size.width), AttributeValue.integer(image.size.height))
            span.updateAttributes {
                $0.merge(FetchAttributes([AttributeName.imageWidth: width, AttributeName.imageHeight: height]))
            }
        case .failure(let error):
            span.updateAttributes { $0.merge(FetchAttributes([AttributeName.errorType: .text(error.category)])) }
            // The error's own description names the address.
            span.setStatus(SpanStatus(code: .error, message: "The image \(error.explanation)".visible))
        }
        return loaded
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
            // Without the address, which the error's own description names.
            error: error.map { ImageError($0.reason, explanation: $0.explanation) },
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

extension SpanAttributes {
    /// Lists the steps of a load, with an element for each in every attribute. They are not events, because a report tells how
    /// long a step took, but not when: it may have been done for an earlier load, and loads wait for memory between steps.
    fileprivate mutating func merge(_ steps: [ImageLoadReport.Step]) {
        set(AttributeName.stage, value: .stringArray(steps.map(\.name.visible)))
        set(AttributeName.stageOrigin, value: .stringArray(steps.map { "\($0.origin)" }))
        set(AttributeName.stageDuration, value: .doubleArray(steps.map { $0.duration / .seconds(1) }))
        set(AttributeName.stageBytes, value: .int64Array(steps.map { Int64($0.bytes) }))
    }
}
#endif
