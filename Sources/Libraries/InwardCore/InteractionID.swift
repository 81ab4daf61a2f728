/// The identifier of one request or command that the program handles, for telemetry.
///
/// ```swift
/// let list = try await InteractionID.$current.withValue(InteractionID("request 17")) {
///     try await users.list()
/// }
/// ```
///
/// It propagates to the task and its child tasks as ``current``, so that telemetry can correlate what they do. Coalesced work
/// has the identifier of its first caller. Work in the background, such as the delivery of pending writes, has none.
public struct InteractionID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier of the current task's interaction, or `nil` if the task belongs to none.
    @TaskLocal public static var current: InteractionID?

    /// The identifier as text.
    public let description: String

    /// Creates an identifier from text, such as the value of a request's `X-Request-ID` header field.
    public init(_ description: String) {
        self.description = description
    }

    /// Calls a closure without the current identifier, to start work that belongs to no interaction.
    package static func lifted<Value>(_ begin: () -> Value) -> Value {
        guard current != nil else { return begin() }
        return $current.withValue(nil, operation: begin)
    }
}
