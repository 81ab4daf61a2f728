/// A filter that selects some of an endpoint's entities, such as the comments on one post.
///
/// ```swift
/// // GET /comments?postId=7
/// let onPost = EntityFilter<Comment>("postId", "7", of: ["posts", "7"]) { $0.postID == 7 }
/// let reading = try await comments.entities(onPost)
/// ```
///
/// The list of a nested resource has a path of its own:
///
/// ```swift
/// // GET /posts/7/comments
/// let onPost = EntityFilter<Comment>(at: "posts/7/comments", of: ["posts", "7"]) { $0.postID == 7 }
/// ```
///
/// Two filters are equal if they have the same path and the same query fields in the same order.
public struct EntityFilter<Entity: Sendable>: Hashable, Sendable {
    /// A query field and its value.
    public struct Field: Hashable, Sendable {
        /// The name of the field.
        public let name: String
        /// The value to match.
        public let value: String
    }

    /// The path components of the list, relative to the upstream, or `nil` for the endpoint's own list.
    public let path: [String]?
    /// The query fields of the request.
    public let fields: [Field]
    /// The key of the entities' owner, or `nil` if they have no common owner. ``Repository/invalidate(under:)`` with this key
    /// invalidates the list.
    public let subject: RecordKey?
    @usableFromInline let condition: @Sendable (Entity) -> Bool

    @usableFromInline
    init(
        path: [String]? = nil,
        fields: [Field],
        subject: RecordKey?,
        matching condition: @escaping @Sendable (Entity) -> Bool
    ) {
        self.path = path
        self.fields = fields
        self.subject = subject
        self.condition = condition
    }

    /// Creates a filter on one field.
    ///
    /// - Parameters:
    ///   - name: The upstream's name for the field.
    ///   - value: The value to match.
    ///   - subject: The key of the entities' owner, such as `["users", "7"]`. ``Repository/invalidate(under:)`` with this key
    ///     invalidates the list.
    ///   - condition: Returns whether the filter matches an entity. The repository applies it to cached entities, and to
    ///     responses, because the upstream may ignore the query field.
    public init(
        _ name: String,
        _ value: String,
        of subject: RecordKey? = nil,
        matching condition: @escaping @Sendable (Entity) -> Bool
    ) {
        self.init(fields: [Field(name: name, value: value)], subject: subject, matching: condition)
    }

    /// Creates a filter for a list at a path of its own.
    ///
    /// - Parameters:
    ///   - path: The path of the list, relative to the upstream, such as `posts/7/comments`.
    ///   - subject: The key of the entities' owner, such as `["posts", "7"]`. ``Repository/invalidate(under:)`` with this key
    ///     invalidates the list.
    ///   - condition: Returns whether an entity belongs in the list. The repository applies it to responses and to cached
    ///     entities.
    public init(
        at path: String,
        of subject: RecordKey? = nil,
        matching condition: @escaping @Sendable (Entity) -> Bool
    ) {
        self.init(
            path: path.split(separator: "/").map(String.init),
            fields: [],
            subject: subject,
            matching: condition
        )
    }

    /// The filter that matches every entity.
    @inlinable
    public static var all: Self { Self(fields: [], subject: nil) { _ in true } }

    /// Returns a filter that matches the entities that both filters match. If both have a path, it has the path of this filter.
    public func and(_ other: Self) -> Self {
        Self(path: path ?? other.path, fields: fields + other.fields, subject: subject ?? other.subject) {
            [condition] entity in
            condition(entity) && other.condition(entity)
        }
    }

    /// Returns whether the filter matches an entity.
    public func matches(_ entity: Entity) -> Bool { condition(entity) }

    /// Returns whether two filters have the same path and query fields.
    @inlinable
    public static func == (first: Self, second: Self) -> Bool {
        first.fields == second.fields && first.path == second.path
    }

    /// Hashes the path and the query fields.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
        if let path { hasher.combine(path) }
    }
}
