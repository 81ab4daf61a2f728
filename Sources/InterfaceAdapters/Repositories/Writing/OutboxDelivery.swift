/// An entry on its way, and what is known of how it went before.
struct OutboxDelivery: Sendable {
    var entry: OutboxEntry
    var history: DeliveryHistory
}
