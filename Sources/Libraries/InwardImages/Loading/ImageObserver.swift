/// An observer of image loads and of the memory that they use.
///
///     let budget = DecodingBudget(bytes: 256 * 1_024 * 1_024, observer: observer)
///     let loader = ImageLoader(source: source, codec: codec, budget: budget, observer: observer)
///
/// Every method has a default implementation that does nothing, so implement only those you need. Methods are called from many
/// tasks concurrently and delay loads, so return quickly. Without an observer, nothing is measured.
public protocol ImageObserver: Sendable {
    /// Called when a load has ended. A prefetched image counts as one.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - load: The result and the report with its steps: the fetch, the decoding, and each plugin.
    func loadEnded(_ address: ImageAddress, _ load: ImageLoad)

    /// Called when memory was reserved or returned, and when a load begins or ends to wait for memory. Concurrent changes are
    /// reported by one call, and the last call is always about the last state.
    ///
    /// - Parameters:
    ///   - part: The part of the budget.
    ///   - status: What is reserved, and how many loads wait.
    func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status)
}

extension ImageObserver {
    /// Does nothing.
    public func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {}
    /// Does nothing.
    public func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status) {}
}
