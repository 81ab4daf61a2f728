/// A data fetcher that wraps another and adds one behaviour.
///
/// Conform a decorator of your own, and it shows in the pipeline, is looked at when orders are, and lets an observer through
/// to what it wraps.
public protocol DecoratingDataFetcher: DataFetcher {
    /// What is wrapped.
    var base: any DataFetcher { get set }
    /// What the decorator adds, as the pipeline shows it.
    var layer: DataFetcherLayer { get }
}

extension DecoratingDataFetcher {
    /// Whether what is wrapped does. A decorator that waits by itself, and not by the deadline, says `false`.
    public var honorsDeadlines: Bool { base.honorsDeadlines }
}
