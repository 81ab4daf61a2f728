import UseCases

/// An entry to deliver, and what is known of how it went before.
struct OutboxDelivery: Sendable {
    var entry: OutboxEntry
    var history = DeliveryHistory()
    /// What the upstream answered for good, if that could not be settled yet: then it is not sent again.
    var answer: Result<DataResponse, RepositoryError>?
    /// How often settling it failed.
    var settlementFailures = 0
    /// When it may be sent, by the timer; `nil` for at once.
    var nextAttempt: Duration?
    /// Why it was not delivered so far.
    var cause: String?
    /// Whether the store has a note of what the history says.
    var isNoted = false
    /// Whether the last attempt failed for want of valid credentials.
    var isDenied = false
}
