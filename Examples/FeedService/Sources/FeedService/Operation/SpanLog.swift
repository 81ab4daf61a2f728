import Instrumentation
import InwardCore
import Logging
import ServiceContextModule
import Synchronization
import Tracing

/// A tracer that logs each span when it ends, and carries traces from the clients to the upstream in `traceparent`.
///
/// Systems that collect logs can put the spans of a trace together. To send spans to a collector of traces instead, link a tracer that
/// does so. A trace that a client has begun is recorded if the client says so.
struct SpanLog: Tracer {
    private static let field = "traceparent"

    private let share: Double
    private let logger: Logger

    /// Creates a tracer.
    ///
    /// - Parameters:
    ///   - share: The share of recorded traces among those that begin here, from 0 to 1.
    ///   - logger: The log of the spans.
    init(share: Double, logger: Logger) {
        (self.share, self.logger) = (share, logger)
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> LoggedSpan {
        let parent = context()
        var own = parent
        own.trace = parent.trace.map(TraceContext.init(in:)) ?? TraceContext(isSampled: .random(in: 0..<1) < share)
        let span = LoggedSpan(
            operationName,
            kind,
            context: own,
            parent: parent.trace,
            start: instant().nanosecondsSinceEpoch,
            logger: logger
        )
        if let request = InteractionID.current { span.attributes["request.id"] = request.description }
        return span
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let field = extractor.extract(key: Self.field, from: carrier) else { return }
        if let trace = TraceContext(field: field) { context.trace = trace }
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.field, forKey: Self.field, into: &carrier)
    }

    func forceFlush() {}
}

/// A span that is logged when it ends, unless its trace is not recorded.
final class LoggedSpan: Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var status: SpanStatus?
        var isEnded = false
    }

    let context: ServiceContext
    private let parent: TraceContext?
    private let kind: SpanKind
    private let start: UInt64
    private let logger: Logger
    private let state: Mutex<State>

    init(
        _ name: String,
        _ kind: SpanKind,
        context: ServiceContext,
        parent: TraceContext?,
        start: UInt64,
        logger: Logger
    ) {
        (self.kind, self.context, self.parent, self.start, self.logger) = (kind, context, parent, start, logger)
        state = Mutex(State(name: name))
    }

    var operationName: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock(\.attributes) }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { context.trace?.isSampled == true && !state.withLock(\.isEnded) }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    /// Does nothing, because the service's spans have no events.
    func addEvent(_ event: SpanEvent) {}

    /// Does nothing, because the service's spans have no links.
    func addLink(_ link: SpanLink) {}

    /// Records the type of the error, but not its text, which may contain secrets.
    func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        let type = "\(type(of: error))"
        state.withLock { $0.attributes["error.type"] = type }
    }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let trace = context.trace, trace.isSampled else { return }
        let state = state.withLock { state in
            defer { state.isEnded = true }
            return state
        }
        guard !state.isEnded else { return }
        var fields: Logger.Metadata = [
            "trace.id": "\(trace.trace)", "span.id": "\(trace.span)", "span.kind": "\(kind)",
        ]
        if let parent { fields["span.parent"] = "\(parent.span)" }
        // Queries contain what visitors search for, and paths the signatures of images. The route says enough.
        state.attributes.forEach { name, value in
            if name != "url.query", name != "url.path" { fields[name] = value.logged }
        }
        // The service answers every error of a request, so only the status says that it failed.
        let hasFailed =
            kind == .server
            && (500...599).contains(fields["http.response.status_code"].flatMap { Int($0.description) } ?? 0)
        if state.status?.code == .error || hasFailed { fields["span.status"] = "error" }
        // The computer's clock may be set while the span lasts.
        let end = max(start, instant().nanosecondsSinceEpoch)
        fields["span.milliseconds"] = "\(Double((end - start) / 1_000) / 1_000)"
        logger.info("\(state.name)", metadata: fields)
    }
}

extension SpanAttribute {
    /// The value as it appears in a log.
    fileprivate var logged: Logger.Metadata.Value {
        switch self {
        case .int32(let number): "\(number)"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .string(let text): "\(text.visible)"
        case .stringConvertible(let value): "\("\(value)".visible)"
        case .stringArray(let texts): .array(texts.map { "\($0.visible)" })
        default: "\(self)"
        }
    }
}
