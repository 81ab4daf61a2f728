/// The structure of a data fetcher: its layers, outermost first, and the fetcher that they wrap.
///
/// ```swift
/// print(client.timingOut(after: .seconds(2)).retrying(.standard).pipeline)
/// // tries up to 3 times
/// // → times out after 2.0 seconds
/// // → URLSessionDataFetcher
/// ```
public struct DataFetcherPipeline: Sendable, CustomStringConvertible {
    /// The layers, outermost first.
    public let layers: [DataFetcherLayer]
    /// The type of the innermost fetcher.
    public let source: String

    init(_ fetcher: any DataFetcher) {
        var layers: [DataFetcherLayer] = []
        var rest = fetcher
        while true {
            if let decorator = rest as? any DecoratingDataFetcher {
                layers.append(decorator.layer)
                rest = decorator.base
            } else if let probe = rest as? AttemptObservingDataFetcher {
                rest = probe.base
            } else if let layered = rest as? any LayeredDataFetcher {
                rest = layered.layers
            } else {
                break
            }
        }
        self.layers = layers
        source = "\(type(of: rest))"
    }

    /// Warnings about layers whose order defeats their purpose.
    ///
    /// ```swift
    /// for warning in orders.pipeline.warnings { print(warning) }
    /// ```
    public var warnings: [OrderWarning] { OrderRule.all.flatMap { $0.warnings(about: layers) } }

    /// The layers, outermost first, one per line, followed by warnings about their order.
    public var description: String {
        let chain = (layers.map(\.description) + [source]).joined(separator: "\n→ ")
        return ([chain] + warnings.map { "warning: \($0)" }).joined(separator: "\n")
    }
}

extension DataFetcher {
    /// The structure of this fetcher. A fetcher of your own counts as the innermost unless it is a ``DecoratingDataFetcher``.
    ///
    /// Print it at launch, and expect no ``DataFetcherPipeline/warnings`` in a test.
    public var pipeline: DataFetcherPipeline { DataFetcherPipeline(self) }
}

/// A warning about layers whose order defeats their purpose.
///
/// ```swift
/// let hasty = client.retrying(.standard).timingOut(after: .seconds(20))
/// for warning in hasty.pipeline.warnings {
///     print("warning:", warning, warning.layers.map(\.description))
/// }
/// ```
public struct OrderWarning: Hashable, Sendable, CustomStringConvertible {
    /// The layers that are in the wrong order, outermost first.
    public let layers: [DataFetcherLayer]
    /// The problem and its remedy, as a sentence.
    public let description: String
}

/// A rule that detects layers whose order defeats their purpose.
struct OrderRule: Sendable {
    private let find: @Sendable ([DataFetcherLayer]) -> [[DataFetcherLayer]]
    private let reason: String

    func warnings(about layers: [DataFetcherLayer]) -> [OrderWarning] {
        find(layers).map { OrderWarning(layers: $0, description: reason) }
    }

    static let all = [
        within(
            .cache,
            .coalescing,
            "Inside coalescing, only the first caller reads a cache: put the cache outermost, where it costs least."
        ),
        within(
            .cache,
            .circuitBreaker,
            "A cache inside a circuit breaker cannot answer while the circuit is open: put the cache around the breaker."
        ),
        within(
            .cache,
            .concurrencyLimit,
            "Responses of a cache inside a concurrency limit use permits that requests to the upstream need: put the cache"
                + " around the limit."
        ),
        within(
            .cache,
            .rateLimit,
            "Responses of a cache inside a rate limit use up the quota of the upstream: put the cache around the limit."
        ),
        within(
            .coalescing,
            .rateLimit,
            "A rate limit around coalescing counts requests that are never sent: put the limit inside the coalescing."
        ),
        within(
            .coalescing,
            .retry,
            "With retries around coalescing, each waiter of a failed transfer retries: put the retries inside, where they"
                + " serve all waiters."
        ),
        within(
            .fallback,
            .retry,
            "Retries around a fallback never see a failure: put the retries inside the fallback."
        ),
        within(
            .fallback,
            .circuitBreaker,
            "A circuit breaker around a fallback never sees a failure: put the breaker inside the fallback."
        ),
        within(
            .fallback,
            .hedging,
            "Hedging around a fallback mistakes it for the upstream: put the fallback around the hedging."
        ),
        // Guards within other layers are safe, because the client makes the checks. Only a fallback has a second client.
        within(
            .addressGuard,
            .fallback,
            "A fallback around an address guard can use a fetcher that the guard does not reach: put the guard around the"
                + " fallback, where it reaches both."
        ),
        within(
            .retry,
            .hedging,
            "Hedging around retries doubles all of them: put the hedging inside, where it doubles only slow attempts."
        ),
        within(
            .cache,
            .sizeLimit,
            "A size limit around a cache rejects responses that are already stored: put the limit inside the cache."
        ),
        within(
            .coalescing,
            .deadlineNotice,
            "A deadline field added outside coalescing makes every request different, so none are coalesced: add it inside."
        ),
        within(
            .cache,
            .deadlineNotice,
            "A deadline field added outside a cache states the deadline of one caller, although others wait for the same answer: add"
                + " it inside."
        ),
        within(
            .retry,
            .concurrencyLimit,
            "Under a concurrency limit around retries, requests that wait for a retry hold permits: put the limit inside the"
                + " retries."
        ),
        OrderRule(
            find: { layers in
                guard let retry = layers.firstIndex(where: { $0.kind == .retry }),
                    let timeout = layers[..<retry].last(where: { $0.kind == .timeout }),
                    !layers[retry...].contains(where: { $0.kind == .timeout })
                else { return [] }
                return [[timeout, layers[retry]]]
            },
            reason:
                "A timeout around retries limits all attempts together, so one that hangs uses up all the time: put another"
                + " timeout inside, which limits each attempt."
        ),
        OrderRule(
            find: { layers in
                guard let coalescing = layers.firstIndex(where: { $0.kind == .coalescing }),
                    !layers[coalescing...].contains(where: { $0.kind == .timeout }),
                    let timeout = layers[..<coalescing].last(where: { $0.kind == .timeout })
                else { return [] }
                return [[timeout, layers[coalescing]]]
            },
            reason:
                "A timeout around coalescing ends waits but not the transfer: put another timeout inside the coalescing."
        ),
        twice(.retry, "Retries of retries multiply: keep one of the layers."),
        twice(
            .cache,
            "The inner of two caches gets only requests that the outer one cannot answer: keep one of them."
        ),
        twice(.coalescing, "After coalescing, no equal requests are left to coalesce: keep one of the layers."),
        twice(.hedging, "Hedging of hedging sends a request up to four times: keep one of the layers."),
        twice(
            .circuitBreaker,
            "The outer of two circuit breakers does not count the rejections of the inner one: keep one of them."
        ),
    ]

    private static func within(
        _ inner: DataFetcherLayer.Kind,
        _ outer: DataFetcherLayer.Kind,
        _ reason: String
    ) -> OrderRule {
        OrderRule(
            find: { layers in
                guard let first = layers.firstIndex(where: { $0.kind == outer }),
                    let second = layers[first...].first(where: { $0.kind == inner })
                else { return [] }
                return [[layers[first], second]]
            },
            reason: reason
        )
    }

    private static func twice(_ kind: DataFetcherLayer.Kind, _ reason: String) -> OrderRule {
        OrderRule(
            find: { layers in
                let same = layers.filter { $0.kind == kind }
                return same.count > 1 ? [same] : []
            },
            reason: reason
        )
    }
}
