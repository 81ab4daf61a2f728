/// The identifier of what a program does for one request or command.
///
///     let comment = try await InteractionID.$current.withValue(InteractionID(requestID)) {
///         try await session.repository(.comments).entity(7)
///     }
///
/// It propagates to the task and its child tasks as ``current``, so that telemetry can tell what belongs together. Work that is
/// shared by several callers has the identifier of the first. Work in the background, such as the delivery of pending writes, has
/// none.
public struct InteractionID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier of the interaction that the current task belongs to; `nil` if it belongs to none.
    @TaskLocal public static var current: InteractionID?

    /// The identifier as text.
    public let description: String

    /// Creates an identifier from that of a request.
    public init(_ description: String) {
        self.description = description
    }

    /// Starts something that belongs to no interaction.
    package static func lifted<Value>(_ begin: () -> Value) -> Value {
        guard current != nil else { return begin() }
        return $current.withValue(nil, operation: begin)
    }
}
