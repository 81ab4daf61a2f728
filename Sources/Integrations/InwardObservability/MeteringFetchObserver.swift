#if Observability
import InwardCore
public import InwardFetching
public import Metrics
import Synchronization

/// A fetch observer that records swift-metrics counters, timers and gauges.
///
/// ```swift
/// let fetcher = URLSessionDataFetcher().observing(with: MeteringFetchObserver())
/// ```
///
/// The timer `http.client.request.duration`, named by OpenTelemetry's semantic conventions, measures each attempt. The timer
/// `inward.client.request.duration` measures each request, including all attempts and waits. <doc:TelemetryNames> lists all metrics.
///
/// All label sets of a metric have the same label names, and a label that does not apply is empty. Paths are never labels,
/// because their number is not limited. Unknown methods become `_OTHER`, and so do all labels of a label set beyond the limit.
///
/// The gauge `inward.client.circuit_state` has a value only after the first state transition of a circuit.
public struct MeteringFetchObserver: FetchObserver {
    private let attemptDurations: Instruments<Timer>
    private let requestDurations: Instruments<Timer>
    private let cacheHits: Instruments<Counter>
    private let joins: Instruments<Counter>
    private let retries: Instruments<Counter>
    private let hedges: Instruments<Counter>
    private let rejections: Instruments<Counter>
    private let fallbacks: Instruments<Counter>
    private let credentialRefreshes: Instruments<Counter>
    private let circuitChanges: Instruments<Counter>
    private let circuitStates: Instruments<Meter>
    private let operationDurations: Instruments<Timer>
    private let operationAttemptDurations: Instruments<Timer>
    private let operationEvents: Instruments<Counter>

    /// Creates an observer that uses a metrics factory.
    ///
    /// - Parameters:
    ///   - factory: The factory of the instruments. The default is the metrics system's current factory.
    ///   - labelSetLimit: The maximum number of label sets for each metric, at least 1. Further label sets share one
    ///     instrument, so that requests to more and more servers do not exhaust memory.
    public init(factory: any MetricsFactory = MetricsSystem.factory, labelSetLimit: Int = 2_000) {
        func timers(_ label: String, by names: [String] = Self.namesOfOutcome) -> Instruments<Timer> {
            Instruments(labels: names, limit: labelSetLimit) {
                Timer(label: label, dimensions: $0, preferredDisplayUnit: .seconds, factory: factory)
            }
        }
        func counters(_ event: String, by names: [String] = Self.namesOfServer) -> Instruments<Counter> {
            Instruments(labels: names, limit: labelSetLimit) {
                Counter(label: "inward.client.\(event)", dimensions: $0, factory: factory)
            }
        }
        attemptDurations = timers(AttributeName.attemptDuration)
        requestDurations = timers(AttributeName.requestDuration)
        cacheHits = counters("cache_hits")
        joins = counters("joins")
        retries = counters("retries", by: Self.namesOfServer + [AttributeName.errorType])
        hedges = counters("hedges")
        rejections = counters("rejections")
        fallbacks = counters("fallbacks", by: Self.namesOfServer + [AttributeName.errorType])
        credentialRefreshes = counters("credential_refreshes")
        circuitChanges = counters("circuit_changes", by: [AttributeName.circuit, AttributeName.circuitState])
        circuitStates = Instruments(labels: [AttributeName.circuit], limit: labelSetLimit) {
            Meter(label: "inward.client.circuit_state", dimensions: $0, factory: factory)
        }
        let namesOfOperation = [AttributeName.operation, AttributeName.errorType]
        operationDurations = timers(AttributeName.operationDuration, by: namesOfOperation)
        operationAttemptDurations = timers(AttributeName.operationAttemptDuration, by: namesOfOperation)
        operationEvents = Instruments(
            labels: [AttributeName.operation, AttributeName.operationEvent],
            limit: labelSetLimit
        ) {
            Counter(label: "inward.operation.events", dimensions: $0, factory: factory)
        }
    }

    /// Records the duration of a request.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        requestDurations[Self.labels(of: outcome, to: request)].record(duration: duration)
    }

    /// Records the duration of an attempt.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        attemptDurations[Self.labels(of: outcome, to: request)].record(duration: duration)
    }

    /// Counts a response from a cache.
    public func answeredFromCache(_ request: DataRequest) {
        cacheHits[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a request that waits for an equal one.
    public func joined(_ request: DataRequest) {
        joins[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a retry by its reason.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        retries[Self.labels(ofServerFor: request) + [outcome.errorType ?? ""]].increment()
    }

    /// Counts a hedged attempt.
    public func hedged(_ request: DataRequest) {
        hedges[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a rejection.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        rejections[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a fallback by the kind of failure.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        let outcome = Result<DataResponse, FetchError>.failure(error)
        fallbacks[Self.labels(ofServerFor: request) + [outcome.errorType ?? ""]].increment()
    }

    /// Counts a credential refresh.
    public func credentialsRefreshed(for request: DataRequest) {
        credentialRefreshes[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a circuit's state transition by its new state, and sets the gauge of the circuit.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        circuitChanges[[circuit, new]].increment()
        if let number = ["closed", "half open", "open", "isolated"].firstIndex(of: new) {
            circuitStates[[circuit]].set(number)
        }
    }

    /// Records the duration of a call or an attempt, and counts other events.
    public func operation(_ name: String, _ event: OperationEvent) {
        let error = event.error?.category ?? ""
        switch event {
        case .ended(_, let duration): operationDurations[[name, error]].record(duration: duration)
        case .attemptEnded(_, let duration): operationAttemptDurations[[name, error]].record(duration: duration)
        default: operationEvents[[name, event.name]].increment()
        }
    }

    private static let namesOfServer = [AttributeName.serverAddress, AttributeName.serverPort]
    private static let namesOfOutcome =
        namesOfServer + [AttributeName.method, AttributeName.status, AttributeName.errorType]

    private static func labels(ofServerFor request: DataRequest) -> [String] {
        [request.serverAddress ?? "", request.serverPort.map(String.init) ?? ""]
    }

    private static func labels(of outcome: Result<DataResponse, FetchError>, to request: DataRequest) -> [String] {
        labels(ofServerFor: request) + [
            request.knownMethod ?? DataRequest.otherMethod, outcome.statusCode.map(String.init) ?? "",
            outcome.errorType ?? "",
        ]
    }
}

/// The instruments of one metric. Each label set has one instrument, which is created once and kept.
///
/// All label sets have the same label names, because backends such as Prometheus require it. Labels that do not apply are empty.
final class Instruments<Instrument: Sendable>: Sendable {
    private enum Slot {
        case reserved
        case made(Instrument)
    }

    private let slots = Mutex<[[String]: Slot]>([:])
    private let names: [String]
    private let limit: Int
    private let make: @Sendable ([(String, String)]) -> Instrument

    /// Creates an empty collection of instruments.
    ///
    /// - Parameters:
    ///   - names: The label names.
    ///   - limit: The maximum number of label sets with their own instrument, at least 1. Further label sets share one.
    ///   - make: Creates the instrument for a label set.
    init(labels names: [String], limit: Int, make: @escaping @Sendable ([(String, String)]) -> Instrument) {
        self.names = names
        self.limit = max(1, limit)
        self.make = make
    }

    /// Returns the instrument for label values, in the order of the names. Hidden characters in the values are escaped.
    subscript(values: [String]) -> Instrument {
        instrument(values.map(\.visible))
    }

    private func instrument(_ values: [String]) -> Instrument {
        let slot = slots.withLock { slots -> Slot? in
            if let slot = slots[values] { return slot }
            guard slots.count < limit || values == overflow else { return nil }
            slots[values] = .reserved
            return .reserved
        }
        switch slot {
        case .made(let instrument):
            return instrument
        case .reserved:
            // Outside the lock, because this calls the factory. Concurrent callers may create the same instrument twice.
            let instrument = make(Array(zip(names, values)))
            slots.withLock { $0[values] = .made(instrument) }
            return instrument
        case nil:
            return instrument(overflow)
        }
    }

    /// The label values that all label sets beyond the limit share.
    private var overflow: [String] { names.map { _ in "_OTHER" } }
}
#endif
