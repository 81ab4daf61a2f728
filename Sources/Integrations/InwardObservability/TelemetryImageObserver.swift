#if Observability
import InwardCore
public import InwardImages
public import Logging
public import Metrics
public import Tracing

/// An observer of image loads and their memory budget that writes logs, metrics and traces.
///
/// ```swift
/// import InwardImages
///
/// func imageLoader(source: any ImageSource, codec: any ImageCodec) -> ImageLoader {
///     let observer = TelemetryImageObserver()
///     let budget = DecodingBudget(bytes: 256 * 1_024 * 1_024, observer: observer)
///     return ImageLoader(source: source, codec: codec, budget: budget, observer: observer)
/// }
/// ```
///
/// - Timers measure each load and each of its stages: the fetch, the decoding, and the plugins.
/// - Gauges show how much of the budget is reserved, and how many loads wait for memory.
/// - A load is a span of the kind `internal`. Its attributes list the stages in order, with their names, origins, durations in
///   seconds, and bytes. Requests for the image are its child spans, unless the load shares the request of another load.
/// - Loads are logged at the level `debug`.
///
/// <doc:TelemetryNames> lists the metrics and spans. Telemetry contains no addresses of images.
public struct TelemetryImageObserver: ImageObserver {
    private let logger: Logger
    private let tracer: any Tracer
    private let loadDurations: Instruments<Timer>
    private let stageDurations: Instruments<Timer>
    private let reserved: Instruments<Meter>
    private let limits: Instruments<Meter>
    private let waiting: Instruments<Meter>

    /// Creates an observer. By default, it uses the logger, the metrics factory and the tracer that the process has bootstrapped.
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
            // Not the error's description, which contains the address.
            span.setStatus(SpanStatus(code: .error, message: "The image \(error.explanation)".visible))
        }
        return loaded
    }

    /// Logs a load, and records the durations of the load and of its stages.
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
            // A copy without the address, which the error's description would contain.
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
    /// Lists the steps of a load, with one element per step in each attribute.
    ///
    /// The steps are not span events, because a report does not say when a step began. It cannot be calculated from the
    /// durations: an earlier load may have done the step, and loads wait for memory between steps.
    fileprivate mutating func merge(_ steps: [ImageLoadReport.Step]) {
        set(AttributeName.stage, value: .stringArray(steps.map(\.name.visible)))
        set(AttributeName.stageOrigin, value: .stringArray(steps.map { "\($0.origin)" }))
        set(AttributeName.stageDuration, value: .doubleArray(steps.map { $0.duration / .seconds(1) }))
        set(AttributeName.stageBytes, value: .int64Array(steps.map { Int64($0.bytes) }))
    }
}
#endif
