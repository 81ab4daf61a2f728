/// How an endpoint is asked for several entities at once, so that those that are asked for one by one at nearly the same time
/// are one request.
public struct Batching<ID: Sendable>: Sendable {
    /// How many entities a request asks for at most.
    public let limit: Int
    /// How long the first waits for others.
    public let window: Duration
    /// The fields of the query of the endpoint's list that ask for these.
    let fields: @Sendable ([ID]) -> [(name: String, value: String)]

    /// Describes how several entities are asked for.
    ///
    /// - Parameters:
    ///   - limit: How many at most; at least one.
    ///   - window: How long the first waits for others.
    ///   - fields: The fields of the query of the endpoint's list that ask for these, such as `id=1` and `id=2`. The answer is a
    ///     list; who is not in it is not there.
    public init(
        limit: Int = 100,
        window: Duration = .milliseconds(2),
        fields: @escaping @Sendable ([ID]) -> [(name: String, value: String)]
    ) {
        self.limit = max(1, limit)
        self.window = window
        self.fields = fields
    }
}
