/// The structure of a data fetcher: its layers, outermost first, and the fetcher that they wrap.
///
///     print(dataFetcher.pipeline)
///     // answers from memory while an answer is fresh
///     // → tries up to 3 times
///     // → times out after 2.0 seconds
///     // → URLSessionDataFetcher
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

    /// Warnings about layers in an order that defeats their purpose.
    public var warnings: [OrderWarning] { OrderRule.all.flatMap { $0.warnings(about: layers) } }

    /// The layers, outermost first, one per line, followed by warnings about their order.
    public var description: String {
        let chain = (layers.map(\.description) + [source]).joined(separator: "\n→ ")
        return ([chain] + warnings.map { "warning: \($0)" }).joined(separator: "\n")
    }
}

extension DataFetcher {
    /// The structure of this fetcher, down to the first one that is not a ``DecoratingDataFetcher``.
    ///
    /// Print it at launch, and check ``DataFetcherPipeline/warnings`` in a test.
    public var pipeline: DataFetcherPipeline { DataFetcherPipeline(self) }
}

/// A warning about layers in an order that defeats their purpose.
public struct OrderWarning: Hashable, Sendable, CustomStringConvertible {
    /// The affected layers, outermost first.
    public let layers: [DataFetcherLayer]
    /// The problem and its remedy, as a sentence.
    public let description: String
}

/// A rule that detects layers in an order that defeats their purpose.
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
            "A cache inside of coalescing answers only whoever was first: put the cache outermost, where it costs least."
        ),
        within(
            .cache,
            .circuitBreaker,
            "A cache inside of a circuit breaker cannot answer while the circuit is open, and its answers count as the"
                + " upstream's: put the cache around the breaker."
        ),
        within(
            .cache,
            .concurrencyLimit,
            "Answers of a cache inside of a concurrency limit take the place of requests to the upstream, which the limit"
                + " is for: put the cache around it."
        ),
        within(
            .cache,
            .rateLimit,
            "Answers of a cache inside of a rate limit use up what the upstream would take: put the cache around it."
        ),
        within(
            .coalescing,
            .rateLimit,
            "A rate limit around coalescing counts requests that are never sent: put it inside."
        ),
        within(
            .coalescing,
            .retry,
            "Retries around coalescing are made by each who waits for a transfer that failed: put them inside, where one is"
                + " made for all."
        ),
        within(
            .fallback,
            .retry,
            "Retries around a fallback never see a failure: put them inside."
        ),
        within(
            .fallback,
            .circuitBreaker,
            "A circuit breaker around a fallback never sees a failure: put it inside."
        ),
        within(
            .fallback,
            .hedging,
            "Hedging around a fallback takes its answer for the upstream's: put the fallback around it."
        ),
        within(
            .retry,
            .hedging,
            "Hedging around retries doubles all of them: put it inside, where it doubles an attempt that takes long."
        ),
        within(
            .cache,
            .sizeLimit,
            "A size limit around a cache refuses what is kept already: put it inside."
        ),
        within(
            .coalescing,
            .deadlineNotice,
            "A deadline told around coalescing makes every request another one, and none are equal: put it inside."
        ),
        within(
            .cache,
            .deadlineNotice,
            "A deadline told around a cache makes every request another one, and none is found again: put it inside."
        ),
        within(
            .retry,
            .concurrencyLimit,
            "A concurrency limit around retries gives a place to who only waits to try again: put it inside."
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
                "A timeout around retries bounds all attempts together, and the first that hangs takes all of the time:"
                + " put one inside too, which bounds each."
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
                "A timeout around coalescing ends waits and not the transfer, which others wait for: put one inside too."
        ),
        twice(.retry, "Retries of retries multiply: keep one of them."),
        twice(
            .cache,
            "Of two caches the inner one is asked only for what the outer one does not have: keep one of them."
        ),
        twice(.coalescing, "Behind coalescing there are no equal requests to coalesce: keep one of them."),
        twice(.hedging, "Hedging of hedging sends up to four times: keep one of them."),
        twice(
            .circuitBreaker,
            "Of two circuit breakers the inner one's refusals are no failures to the other: keep one of them."
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
