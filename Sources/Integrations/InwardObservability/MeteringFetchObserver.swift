#if Observability
import InwardCore
public import InwardFetching
public import Metrics
import Synchronization

/// Counts and times what happens to requests by instruments of swift-metrics.
///
/// The duration of each attempt is `http.client.request.duration`, as OpenTelemetry's semantic conventions call it, with the
/// method, the server, the status and the kind of failure as labels. The duration of each request, all attempts and waits
/// together, is `inward.client.request.duration`, with the same labels. Both are timers in seconds. What else happens is counted
/// for each server: `inward.client.cache_hits`, `joins`, `retries`, `hedges`, `rejections`, `fallbacks` and
/// `credential_refreshes`, and for each circuit and its new state `inward.client.circuit_changes`.
///
/// A metric has the same labels each time; one that does not apply is empty. No path is a label, a method that is not a known
/// one is `_OTHER`, and so is every label of what is beyond the limit.
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

    /// Makes an observer with instruments of a factory.
    ///
    /// - Parameters:
    ///   - factory: Who makes instruments; by default the one that the metrics system has at this moment.
    ///   - labelSetLimit: How many sets of labels each metric may have, at least 1. An instrument is kept for each as long as
    ///     the observer is, and what is beyond shares one, so that requests to ever new servers do not fill the memory.
    public init(factory: any MetricsFactory = MetricsSystem.factory, labelSetLimit: Int = 2_000) {
        func timers(_ label: String) -> Instruments<Timer> {
            Instruments(labels: Self.namesOfOutcome, limit: labelSetLimit) {
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
    }

    /// Records how long a request took.
    public func requestEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        requestDurations[Self.labels(of: outcome, to: request)].record(duration: duration)
    }

    /// Records how long an attempt took.
    public func attemptEnded(
        _ request: DataRequest,
        _ outcome: Result<DataResponse, FetchError>,
        after duration: Duration
    ) {
        attemptDurations[Self.labels(of: outcome, to: request)].record(duration: duration)
    }

    /// Counts an answer from a cache.
    public func answeredFromCache(_ request: DataRequest) {
        cacheHits[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a wait for an equal request.
    public func joined(_ request: DataRequest) {
        joins[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a retry, by what it is made for.
    public func retryScheduled(
        _ request: DataRequest,
        after delay: Duration,
        because outcome: Result<DataResponse, FetchError>
    ) {
        retries[Self.labels(ofServerFor: request) + [outcome.errorType ?? ""]].increment()
    }

    /// Counts a second attempt beside the first.
    public func hedged(_ request: DataRequest) {
        hedges[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a refusal.
    public func rejected(_ request: DataRequest, because error: FetchError) {
        rejections[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts an answer in place of a failed one, by the kind of failure.
    public func fellBack(_ request: DataRequest, because error: FetchError) {
        let outcome = Result<DataResponse, FetchError>.failure(error)
        fallbacks[Self.labels(ofServerFor: request) + [outcome.errorType ?? ""]].increment()
    }

    /// Counts that credentials were asked for anew.
    public func credentialsRefreshed(for request: DataRequest) {
        credentialRefreshes[Self.labels(ofServerFor: request)].increment()
    }

    /// Counts a change of a circuit, by its new state.
    public func circuitChanged(_ circuit: String, from old: String, to new: String) {
        circuitChanges[[circuit, new]].increment()
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

/// The instruments of one metric, one for each set of labels, each made once and kept.
///
/// Every set has the same names, because a backend may allow no other, as Prometheus does; what does not apply is empty.
final class Instruments<Instrument: Sendable>: Sendable {
    private enum Slot {
        case reserved
        case made(Instrument)
    }

    private let slots = Mutex<[[String]: Slot]>([:])
    private let names: [String]
    private let limit: Int
    private let make: @Sendable ([(String, String)]) -> Instrument

    /// Makes none yet.
    ///
    /// - Parameters:
    ///   - names: The labels' names.
    ///   - limit: How many sets of labels have an instrument of their own, at least 1. What is beyond shares one.
    ///   - make: Makes the instrument for a set of labels.
    init(labels names: [String], limit: Int, make: @escaping @Sendable ([(String, String)]) -> Instrument) {
        self.names = names
        self.limit = max(1, limit)
        self.make = make
    }

    /// The instrument for these labels, by their values in the order of the names. Hidden characters in them are written out.
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
            // Outside of the lock, because it calls the factory. Whoever comes meanwhile makes the same instrument again.
            let instrument = make(Array(zip(names, values)))
            slots.withLock { $0[values] = .made(instrument) }
            return instrument
        case nil:
            return instrument(overflow)
        }
    }

    /// What stands for all labels that have no instrument of their own.
    private var overflow: [String] { names.map { _ in "_OTHER" } }
}
#endif
