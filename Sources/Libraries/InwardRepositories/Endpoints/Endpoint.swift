import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The description of one type of entity at an upstream: its path, its format, its lifetimes, and the requests that the
/// upstream accepts.
///
/// ```swift
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", lifetimes: Lifetimes(staleAfter: .seconds(300)))
/// let comments = Repository(endpoint, upstream: upstream)
/// ```
public struct Endpoint<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// A decoded list: the valid entities, and the records that were rejected.
    struct List {
        let entities: [Entity]
        let rejected: [RejectedRecord]
    }

    /// The name of the entities in messages and keys, such as `users`. It must be unique among the endpoints of an upstream. It
    /// is the `listName` of the record.
    public let name: String
    /// The path components of the full list, relative to the upstream.
    public let path: [String]
    /// How long responses are fresh, and how long they are cached.
    public let lifetimes: Lifetimes
    /// The request for several entities at once, or `nil` if the upstream has none.
    public let batching: Batching<Entity.ID>?
    /// The requests for the pages of the list, or `nil` if the upstream has no pages.
    public let paging: Paging?
    /// The request that creates an entity, or `nil` if the upstream does not accept new entities.
    public let creation: Creation<Entity>?
    /// The requests that update and delete an entity, or `nil` if the upstream accepts neither.
    public let editing: Editing<Entity>?

    /// The sessions that share one repository of the entities.
    public let audience: Audience

    /// The name of the upstream that has the entities, in an app with several upstreams.
    public private(set) var upstream: UpstreamName

    /// The format of the upstream's requests and responses.
    public let format: any RecordFormat

    let onePath: @Sendable (Entity.ID) -> [String]
    let subjects: @Sendable (Entity) -> [RecordKey]
    /// Decodes an entity from a response.
    let decodeOne: @Sendable (Data) throws(FieldError) -> Entity
    let decodeList: @Sendable (Data) throws(FieldError) -> List
    /// Encodes an entity for the upstream or a store.
    let encode: @Sendable (Entity) throws -> Data
    /// Decodes an entity from a store.
    let decodeStored: @Sendable (Data) throws(FieldError) -> Entity

    /// Creates an endpoint with a list at a path and each entity below it.
    ///
    /// ```swift
    /// let endpoint = Endpoint(
    ///     CommentDTO.self,
    ///     at: "comments",
    ///     subjects: { comment in [["posts", comment.postID.description]] },
    ///     paging: .numbers("page", size: "per_page")
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - record: The record that encodes an entity.
    ///   - path: The path of the list, relative to the upstream, such as `posts`.
    ///   - onePath: Returns the path components of one entity. A component may contain any character. By default, the path is
    ///     that of the list with the identifier appended, such as `posts` and `7`.
    ///   - subjects: Returns the keys of an entity's owners, such as `["users", "7"]`. ``Repository/invalidate(under:)`` with
    ///     one of these keys invalidates the entity.
    ///   - format: The format of the upstream's requests and responses.
    ///   - oneEnvelope: The place of the record in the response for one entity.
    ///   - listEnvelope: The place of the records in the response for a list.
    ///   - lifetimes: How long responses are fresh, and how long they are cached.
    ///   - batching: The request for several entities at once, or `nil` if the upstream has none.
    ///   - paging: The requests for the pages of the list, or `nil` if the upstream has no pages.
    ///   - creation: The request that creates an entity, or `nil` if the upstream does not accept new entities.
    ///   - editing: The requests that update and delete an entity, or `nil` if the upstream accepts neither.
    ///   - audience: The sessions that share one repository of the entities.
    ///   - upstream: The name of the upstream that has the entities, in an app with several upstreams.
    public init<Record: RecordDTO>(
        _ record: Record.Type,
        at path: String,
        one onePath: (@Sendable (Entity.ID) -> [String])? = nil,
        subjects: @escaping @Sendable (Entity) -> [RecordKey] = { _ in [] },
        format: some RecordFormat = JSONFormat(),
        oneIn oneEnvelope: Envelope<Record> = .none,
        listIn listEnvelope: Envelope<RecordList<Record>> = .none,
        lifetimes: Lifetimes = Lifetimes(),
        batching: Batching<Entity.ID>? = nil,
        paging: Paging? = nil,
        creation: Creation<Entity>? = nil,
        editing: Editing<Entity>? = nil,
        audience: Audience = .session,
        upstream: UpstreamName = .standard
    ) where Record.Entity == Entity {
        name = Record.listName
        let components = path.split(separator: "/").map(String.init)
        self.path = components
        self.onePath = onePath ?? { components + [$0.description] }
        self.subjects = subjects
        self.lifetimes = lifetimes
        self.batching = batching
        self.paging = paging
        self.creation = creation
        self.editing = editing
        self.audience = audience
        self.upstream = upstream
        self.format = format
        decodeOne = { body throws(FieldError) in try oneEnvelope.open(format, body).entity() }
        decodeList = { body throws(FieldError) in
            let list = try listEnvelope.open(format, body)
            return List(entities: list.entities, rejected: list.rejected)
        }
        encode = { entity in try format.encode(Record(entity)) }
        decodeStored = { body throws(FieldError) in try format.decoded(record, from: body).entity() }
    }

    /// Returns this endpoint at another upstream of the app, such as a replica.
    ///
    /// ```swift
    /// let replica = endpoint.at(UpstreamName("replica"))
    /// ```
    public func at(_ upstream: UpstreamName) -> Self {
        var endpoint = self
        endpoint.upstream = upstream
        return endpoint
    }

    /// Returns the encoded size of an entity in bytes, for the limit of the memory cache. Returns 0 if it cannot be encoded.
    func byteCount(of entity: Entity) -> Int { (try? encode(entity).count) ?? 0 }

    /// Whether the upstream accepts writes.
    var isWritable: Bool { creation != nil || editing != nil }

    /// Returns the key of an identifier.
    func key(of id: Entity.ID) -> RecordKey { [name, id.description] }

    /// Returns the keys whose invalidation affects an entity.
    func keys(of entity: Entity) -> [RecordKey] { [key(of: entity.id)] + subjects(entity) }
}

/// The sessions that share one repository of an ``Endpoint``.
///
/// ```swift
/// let publicComments = Endpoint(CommentDTO.self, at: "comments", audience: .everyone)
/// ```
public enum Audience: Hashable, Sendable {
    /// A single session. Each session has a repository of its own, which sends the session's credentials.
    case session
    /// All sessions. They share one repository, which sends no credentials. The endpoint must not accept writes.
    case everyone
}

/// The name of an upstream, in an app with several upstreams. An ``Endpoint`` names the upstream that has its entities.
///
/// ```swift
/// let search = UpstreamName("search")
/// let hits = Endpoint(CommentDTO.self, at: "hits", upstream: search)
/// ```
public struct UpstreamName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name of the default upstream, which every app has.
    public static let standard = Self("standard")

    /// The name, as it appears in messages and in the keys of a store.
    public let description: String

    /// Creates a name. The name is part of the keys of a store, so do not change it while writes are pending.
    public init(_ name: String) {
        description = name
    }

    /// Returns whether the first name sorts before the second.
    public static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}

/// A configuration that combines concurrent requests for single entities into one request.
///
/// ```swift
/// // Reads of comments 1 and 2 become GET /comments?id=1&id=2.
/// let batching = Batching<Int> { ids in ids.map { (name: "id", value: String($0)) } }
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", batching: batching)
/// ```
public struct Batching<ID: Sendable>: Sendable {
    /// The maximum number of entities in a request.
    public let limit: Int
    /// How long the first request waits for others to join it.
    public let window: Duration
    /// Returns the query fields that request these entities from the endpoint's list.
    let fields: @Sendable ([ID]) -> [(name: String, value: String)]

    /// Creates a batching configuration.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entities in a request, at least 1.
    ///   - window: How long the first request waits for others to join it.
    ///   - fields: Returns the query fields that request these entities from the endpoint's list, such as `id=1` and `id=2`.
    ///     The response is a list. An entity that is missing from the list does not exist.
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

/// The request that creates an entity from a draft, and the entity to show until the upstream has answered.
///
/// ```swift
/// // POST /comments
/// let creation = Creation<Comment>(CommentDraft.self, answer: CommentDTO.self) { draft, number in
///     Comment(id: -1 - number, postID: draft.postId, body: draft.body)
/// }
/// ```
///
/// A draft can also go to the list of its parent:
///
/// ```swift
/// // POST /posts/1/comments
/// let creation = Creation<Comment>(CommentDraft.self, answer: CommentDTO.self) { draft in
///     ["posts", draft.postId.description, "comments"]
/// } pending: { draft, number in
///     Comment(id: -1 - number, postID: draft.postId, body: draft.body)
/// }
/// ```
public struct Creation<Entity: Sendable>: Sendable {
    /// Returns the path components of the list that a draft is sent to, or `nil` if the bytes are not a draft. The closure
    /// itself is `nil` if drafts go to the endpoint's list.
    let path: (@Sendable ([UInt8], any RecordFormat) -> [String]?)?
    let pending: @Sendable ([UInt8], Int, any RecordFormat) -> Entity?
    let created: @Sendable ([UInt8], Data, any RecordFormat) throws(FieldError) -> Entity

    /// Creates a creation request from the types of the request body and the response body.
    ///
    /// - Parameters:
    ///   - draft: The type of the request body. An outbox stores drafts until the upstream has answered, so a later version of
    ///     your program must still be able to decode them.
    ///   - answer: The type of the response body.
    ///   - path: Returns the path components of the list that a draft is sent to, relative to the upstream, such as `posts`,
    ///     `7` and `comments`. It must return the same path for the same draft. A component may contain any character. With an
    ///     outbox, it must not contain a slash, a backslash or a control character. `nil` sends drafts to the endpoint's list.
    ///   - pending: Returns the entity to show until the upstream has answered, or `nil` if the draft cannot be shown. It
    ///     receives the draft and a number that is unique among the pending drafts.
    ///   - created: Returns the entity that the upstream created, from the draft and the response body.
    public init<Draft: Codable & SendableMetatype, Answer: Decodable & SendableMetatype>(
        _ draft: Draft.Type,
        answer: Answer.Type,
        at path: (@Sendable (Draft) -> [String])? = nil,
        pending: @escaping @Sendable (Draft, Int) -> Entity?,
        created: @escaping @Sendable (Draft, Answer) throws(FieldError) -> Entity
    ) {
        if let path {
            self.path = { body, format in
                guard let value = try? format.decoded(draft, from: Data(body)) else { return nil }
                return path(value)
            }
        } else {
            self.path = nil
        }
        self.pending = { body, number, format in
            (try? format.decoded(draft, from: Data(body))).flatMap { pending($0, number) }
        }
        self.created = { body, response, format throws(FieldError) in
            try created(try format.decoded(draft, from: Data(body)), try format.decoded(answer, from: response))
        }
    }

    /// Creates a creation request for an upstream that answers with the record of the created entity.
    ///
    /// - Parameters:
    ///   - draft: The type of the request body. An outbox stores drafts until the upstream has answered, so a later version of
    ///     your program must still be able to decode them.
    ///   - record: The type of the response body.
    ///   - path: Returns the path components of the list that a draft is sent to. See ``init(_:answer:at:pending:created:)``.
    ///     `nil` sends drafts to the endpoint's list.
    ///   - pending: Returns the entity to show until the upstream has answered, or `nil` if the draft cannot be shown. It
    ///     receives the draft and a number that is unique among the pending drafts.
    public init<Draft: Codable & SendableMetatype, Record: RecordDTO>(
        _ draft: Draft.Type,
        answer record: Record.Type,
        at path: (@Sendable (Draft) -> [String])? = nil,
        pending: @escaping @Sendable (Draft, Int) -> Entity?
    ) where Record.Entity == Entity {
        self.init(draft, answer: record, at: path, pending: pending) { _, answer throws(FieldError) in
            try answer.entity()
        }
    }
}

/// How long responses are fresh, and how long they are cached.
///
/// ```swift
/// // Fresh for 5 minutes. For another minute, stale responses are returned while they are refreshed.
/// var lifetimes = Lifetimes(staleAfter: .seconds(300), staleWhileRevalidate: .seconds(60))
/// lifetimes.missingExpiresAfter = .seconds(5)
/// ```
///
/// A repository returns a stale response only if the `ReadPolicy` or one of these limits allows it, and marks the reading as
/// stale.
///
/// Durations are clamped to the range from zero to `Int64.max` seconds, and the jitter to the range from 0 to 1.
public struct Lifetimes: Hashable, Sendable {
    /// How long a response is fresh.
    public var staleAfter: Duration { didSet { staleAfter = Self.clamped(staleAfter) } }
    /// How long a stale response is returned immediately while it is refreshed in the background (RFC 5861,
    /// stale-while-revalidate).
    public var staleWhileRevalidate: Duration {
        didSet { staleWhileRevalidate = Self.clamped(staleWhileRevalidate) }
    }
    /// How long a stale response is returned if the upstream fails (RFC 5861, stale-if-error).
    public var staleIfError: Duration { didSet { staleIfError = Self.clamped(staleIfError) } }
    /// How long a response is cached, counted from its request. Until then, `.cacheOnly` and `.upstreamFirst` may return it.
    public var expiresAfter: Duration { didSet { expiresAfter = Self.clamped(expiresAfter) } }
    /// How long a missing entity is remembered as missing, at most ``staleAfter``. Reads with `.cacheOnly` report it as missing
    /// until ``expiresAfter``.
    public var missingExpiresAfter: Duration { didSet { missingExpiresAfter = Self.clamped(missingExpiresAfter) } }
    /// The maximum fraction of ``staleAfter``, from 0 to 1, that is subtracted at random. Jitter prevents responses that were
    /// fetched together from becoming stale together.
    public var jitter: Double { didSet { jitter = Self.clamped(jitter) } }

    /// Creates lifetimes. By default, a response is fresh for a minute. For a day after that, it is returned if the upstream
    /// fails. It is cached for a week.
    public init(
        staleAfter: Duration = .seconds(60),
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .seconds(86_400),
        expiresAfter: Duration = .seconds(604_800),
        missingExpiresAfter: Duration = .seconds(10),
        jitter: Double = 0.1
    ) {
        self.staleAfter = Self.clamped(staleAfter)
        self.staleWhileRevalidate = Self.clamped(staleWhileRevalidate)
        self.staleIfError = Self.clamped(staleIfError)
        self.expiresAfter = Self.clamped(expiresAfter)
        self.missingExpiresAfter = Self.clamped(missingExpiresAfter)
        self.jitter = Self.clamped(jitter)
    }

    // Limited so that the sum of two lifetimes and a clock time does not overflow.
    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), .seconds(Int64.max)) }

    // NaN counts as zero.
    private static func clamped(_ jitter: Double) -> Double { min(max(0, jitter), 1) }

    /// Returns how long a response, or a missing entity, is fresh. `chance`, from 0 to 1, is the fraction of the jitter to
    /// subtract.
    func freshness(isAbsent: Bool, chance: Double) -> Duration {
        (isAbsent ? min(missingExpiresAfter, staleAfter) : staleAfter) * (1 - jitter * chance)
    }
}
