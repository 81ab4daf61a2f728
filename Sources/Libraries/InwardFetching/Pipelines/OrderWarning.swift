/// Says that an order of layers makes no sense, and why.
public struct OrderWarning: Hashable, Sendable, CustomStringConvertible {
    /// The layers that it is about, the outermost first.
    public let layers: [DataFetcherLayer]
    /// What is wrong with their order and what to do about it, as a sentence.
    public let description: String
}
