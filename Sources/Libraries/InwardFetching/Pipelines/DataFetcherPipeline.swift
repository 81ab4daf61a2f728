/// What a data fetcher is made of: its layers, the outermost first, and the fetcher at their end.
///
///     print(dataFetcher.pipeline)
///     // answers from memory while an answer is fresh
///     // → tries up to 3 times
///     // → times out after 2.0 seconds
///     // → URLSessionDataFetcher
public struct DataFetcherPipeline: Sendable, CustomStringConvertible {
    /// The layers, the outermost first.
    public let layers: [DataFetcherLayer]
    /// What stands at the end.
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
            } else {
                break
            }
        }
        self.layers = layers
        source = "\(type(of: rest))"
    }

    /// The orders of layers that make no sense, with the reason of each.
    public var warnings: [OrderWarning] { OrderRule.all.flatMap { $0.warnings(about: layers) } }

    /// The layers, the outermost first, each on a line, and warnings about their order behind them.
    public var description: String {
        let chain = (layers.map(\.description) + [source]).joined(separator: "\n→ ")
        return ([chain] + warnings.map { "warning: \($0)" }).joined(separator: "\n")
    }
}

extension DataFetcher {
    /// What this fetcher is made of, down to the first that is no ``DecoratingDataFetcher``.
    ///
    /// Print it when a program starts, and look at ``DataFetcherPipeline/warnings`` in a test.
    public var pipeline: DataFetcherPipeline { DataFetcherPipeline(self) }
}
