public import CoreMetrics
import Synchronization

/// The metrics of the process, in the text format of Prometheus (version 0.0.4).
///
/// ```swift
/// let metrics = PrometheusMetrics()
/// MetricsSystem.bootstrap(metrics)
/// Counter(label: "feed.reads", dimensions: [("kind", "page")]).increment()
/// print(metrics.text)  // feed_reads_total{kind="page"} 1.0
/// ```
///
/// Timers are histograms in seconds. The number of time series is limited: instruments for further ones are counted, but measure nothing.
public final class PrometheusMetrics: MetricsFactory {
    private struct Family {
        let kind: MetricSeries.Kind
        var series: [String: MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var count = 0
        var droppedCount = 0
    }

    private static let maximumCount = 5_000

    private let state = Mutex(State())

    /// Creates a registry without metrics.
    public init() {}

    /// All metrics, in the order of their names.
    public var text: String {
        let (families, droppedCount) = state.withLock { ($0.families, $0.droppedCount) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.append(to: &text, name: name, labels: labels)
            }
        }
        text += "# TYPE metrics_dropped_instruments_total counter\nmetrics_dropped_instruments_total \(droppedCount)\n"
        return text
    }

    private func series(_ label: String, _ kind: MetricSeries.Kind, _ dimensions: [(String, String)]) -> MetricSeries {
        let name = Self.name(label) + kind.suffix
        let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        return state.withLock { state in
            let family = state.families[name] ?? Family(kind: kind)
            if family.kind == kind, let series = family.series[labels] { return series }
            let series = MetricSeries(kind)
            // A metric of another kind can have the same name.
            guard family.kind == kind, state.count < Self.maximumCount else {
                state.droppedCount += 1
                return series
            }
            state.families[name, default: family].series[labels] = series
            state.count += 1
            return series
        }
    }

    private static func name(_ label: String) -> String {
        let scalars = label.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": scalar
            default: "_"
            }
        }
        let isNumber = scalars.first.map { ("0"..."9").contains($0) } ?? true
        return (isNumber ? "_" : "") + String(String.UnicodeScalarView(scalars))
    }

    private static let special = [UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "\n")]

    private static func escaped(_ value: String) -> String {
        // Searching for each of them takes longer than all of the rest.
        guard value.utf8.contains(where: Self.special.contains) else { return value }
        return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    // MARK: Instruments

    /// Returns the counter with a label and dimensions. It is the same for the same label and dimensions, like all instruments.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, .counter, dimensions)
    }

    /// Returns a counter of fractions.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, .counter, dimensions)
    }

    /// Returns a gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, .gauge, dimensions)
    }

    /// Returns a histogram, or a gauge for values that are not aggregated.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        series(label, aggregate ? .sizes : .gauge, dimensions)
    }

    /// Returns a histogram of durations.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, .durations, dimensions)
    }

    // What was measured remains after its instrument.
    /// Does nothing.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Does nothing.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing.
    public func destroyTimer(_ handler: any TimerHandler) {}
}
