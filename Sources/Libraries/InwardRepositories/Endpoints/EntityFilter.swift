/// Which of an endpoint's entities are wanted: those of one author, say.
///
/// Two filters are equal if they ask the upstream for the same, by the same fields in the same order.
public struct EntityFilter<Entity: Sendable>: Hashable, Sendable {
    /// A field that is asked for, and its value.
    public struct Field: Hashable, Sendable {
        /// What the field is called.
        public let name: String
        /// The value that it is to have.
        public let value: String
    }

    /// What the upstream is asked for, as fields of the query. None for all entities.
    public let fields: [Field]
    /// Whose entities they are, for whoever invalidates all that is somebody's; `nil` if they are nobody's in particular.
    public let subject: RecordKey?
    @usableFromInline let condition: @Sendable (Entity) -> Bool

    @usableFromInline
    init(fields: [Field], subject: RecordKey?, matching condition: @escaping @Sendable (Entity) -> Bool) {
        self.fields = fields
        self.subject = subject
        self.condition = condition
    }

    /// Makes a filter of one field.
    ///
    /// - Parameters:
    ///   - name: What the upstream calls the field.
    ///   - value: What it is to be.
    ///   - subject: Whose entities they are, such as `["users", "7"]`.
    ///   - condition: What the filter lets through. It is asked of what the upstream answers, which may not know the filter, and
    ///     of what is kept.
    public init(
        _ name: String,
        _ value: String,
        of subject: RecordKey? = nil,
        matching condition: @escaping @Sendable (Entity) -> Bool
    ) {
        self.init(fields: [Field(name: name, value: value)], subject: subject, matching: condition)
    }

    /// The filter that lets every entity through.
    @inlinable
    public static var all: Self { Self(fields: [], subject: nil) { _ in true } }

    /// The filter that lets through what this one and another do.
    public func and(_ other: Self) -> Self {
        Self(fields: fields + other.fields, subject: subject ?? other.subject) { [condition] entity in
            condition(entity) && other.condition(entity)
        }
    }

    /// Whether the filter lets an entity through.
    public func matches(_ entity: Entity) -> Bool { condition(entity) }

    /// Whether two filters ask for the same.
    @inlinable
    public static func == (first: Self, second: Self) -> Bool { first.fields == second.fields }

    /// Adds the fields to what a hash is made of.
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}
