import CoreMetrics
import Synchronization

/// The values of one metric with one set of labels.
final class MetricSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Kind {
        case counter, gauge, sizes, durations

        /// The name of the type in the text format.
        var rawValue: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .sizes, .durations: "histogram"
            }
        }

        /// What names of metrics of the kind end with.
        var suffix: String {
            switch self {
            case .counter: "_total"
            case .gauge, .sizes: ""
            case .durations: "_seconds"
            }
        }

        /// The upper bounds of the buckets of a histogram.
        var bounds: [Double] {
            switch self {
            case .counter, .gauge: []
            case .sizes: [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]
            case .durations: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
            }
        }
    }

    private struct State {
        /// The value, or the sum of the values of a histogram.
        var value = 0.0
        var count = 0
        /// How many values are at most each bound, but above the bound before.
        var counts: [Int]
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(_ kind: Kind) {
        bounds = kind.bounds
        state = Mutex(State(counts: bounds.map { _ in 0 }))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { state.withLock { $0.value += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { state.withLock { $0.value = 0 } }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard !bounds.isEmpty else { return set(value) }
        let place = bounds.firstIndex { value <= $0 }
        state.withLock { state in
            state.value += value
            state.count += 1
            if let place { state.counts[place] += 1 }
        }
    }

    /// Appends the lines of the series.
    func append(to text: inout String, name: String, labels: String) {
        let state = state.withLock(\.self)
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        guard !bounds.isEmpty else {
            text += "\(name)\(braced) \(state.value.isNaN ? "NaN" : "\(state.value)")\n"
            return
        }
        let rest = labels.isEmpty ? "" : "\(labels),"
        var count = 0
        for (bound, own) in zip(bounds, state.counts) {
            count += own
            text += "\(name)_bucket{\(rest)le=\"\(bound)\"} \(count)\n"
        }
        text += "\(name)_bucket{\(rest)le=\"+Inf\"} \(state.count)\n"
        text += "\(name)_sum\(braced) \(state.value)\n\(name)_count\(braced) \(state.count)\n"
    }
}
