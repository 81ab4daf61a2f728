import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The location of one type of entity at an upstream, with its record format and the lifetimes of its responses.
///
/// Pass an endpoint to a ``Repository``:
///
///     let comments = Endpoint(CommentDTO.self, at: "comments", lifetimes: Lifetimes(staleAfter: .seconds(300)))
public struct Endpoint<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// A decoded list: the valid entities, and the records that were rejected.
    struct List {
        let entities: [Entity]
        let rejected: [RejectedRecord]
    }

    /// The name of the entities in messages and keys, such as `users`. It must be unique among the endpoints of an upstream.
    public let name: String
    /// The path components of the full list, relative to the upstream.
    public let path: [String]
    /// How long responses are fresh, and how long they are cached.
    public let lifetimes: Lifetimes
    /// How several entities are requested at once; `nil` if the upstream does not support it.
    public let batching: Batching<Entity.ID>?
    /// How the list is requested page by page; `nil` if the upstream does not support it.
    public let paging: Paging?
    /// How an entity is created; `nil` if the upstream does not support it.
    public let creation: Creation<Entity>?
    /// How an entity is updated and deleted; `nil` if the upstream supports neither.
    public let editing: Editing<Entity>?

    /// The audience that shares a repository of the entities.
    public let audience: Audience

    /// The name of the upstream that has the entities, in an app with several.
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

    /// Creates an endpoint whose list is at a path, with each entity below it.
    ///
    /// - Parameters:
    ///   - record: The format in which the upstream encodes an entity.
    ///   - path: The path of the list, relative to the upstream, such as `posts`.
    ///   - onePath: Returns the path components of one entity. A component may contain any character. `nil` appends the identifier
    ///     to the path of the list, as in `posts` and `7`.
    ///   - subjects: Returns the owners of an entity, such as `["users", "7"]`, so that invalidating an owner invalidates the
    ///     entity.
    ///   - format: The format of the upstream's requests and responses.
    ///   - oneEnvelope: The place of the record in the response for one entity.
    ///   - listEnvelope: The place of the records in the response for a list.
    ///   - lifetimes: How long responses are fresh, and how long they are cached.
    ///   - batching: How several entities are requested at once; `nil` if the upstream does not support it.
    ///   - paging: How the list is requested page by page; `nil` if the upstream does not support it.
    ///   - creation: How a draft sent to the list becomes an entity; `nil` if the upstream does not support it.
    ///   - editing: How an entity is updated and deleted; `nil` if the upstream supports neither.
    ///   - audience: The audience that shares a repository of the entities.
    ///   - upstream: The name of the upstream that has the entities, in an app with several.
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

    /// Returns this endpoint at another upstream of the app, for example at a replica.
    ///
    ///     let copies = try session.repository(.comments.at(.replica))
    public func at(_ upstream: UpstreamName) -> Self {
        var endpoint = self
        endpoint.upstream = upstream
        return endpoint
    }

    /// Returns the encoded size of an entity in bytes, which counts in a memory cache; 0 if it cannot be encoded.
    func byteCount(of entity: Entity) -> Int { (try? encode(entity).count) ?? 0 }

    /// Whether the upstream accepts writes.
    var isWritable: Bool { creation != nil || editing != nil }

    /// Returns the key of an identifier.
    func key(of id: Entity.ID) -> RecordKey { [name, id.description] }

    /// Returns the keys whose invalidation affects an entity.
    func keys(of entity: Entity) -> [RecordKey] { [key(of: entity.id)] + subjects(entity) }
}

/// The audience of an ``Endpoint``, which decides how many sessions share a repository of its entities.
///
///     let news = Endpoint(NewsDTO.self, at: "news", audience: .everyone)
public enum Audience: Hashable, Sendable {
    /// One session. Each session has its own repository, which sends the session's credentials.
    case session
    /// All sessions. They share one repository, which sends no credentials. The endpoint must not have writes.
    case everyone
}

/// The name of one of an app's upstreams, by which an ``Endpoint`` says where its entities are.
///
///     extension UpstreamName {
///         static let search = Self("search")
///     }
///     let hits = Endpoint(HitDTO.self, at: "hits", upstream: .search)
public struct UpstreamName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The upstream that an app always has.
    public static let standard = Self("standard")

    /// The name, as it is in messages and in the keys of a store.
    public let description: String

    /// Creates a name. It is part of the keys of a store, so do not change it while writes are pending.
    public init(_ name: String) {
        description = name
    }

    /// Returns whether a name precedes another in the order of their characters.
    public static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}

/// Combines requests for single entities that are made at nearly the same time into one request.
///
///     let batching = Batching<Int> { ids in ids.map { (name: "id", value: String($0)) } }
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
    ///   - limit: The maximum number of entities in a request; at least 1.
    ///   - window: How long the first request waits for others to join it.
    ///   - fields: Returns the query fields that request these entities from the endpoint's list, such as `id=1` and `id=2`. The
    ///     response is a list; an entity that is missing from it does not exist.
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

/// How a draft becomes an entity. It is sent to the endpoint's list, or to the list of its parent:
///
///     let creation = Creation<Comment>(CommentDraft.self, answer: CommentDTO.self) { draft in
///         ["posts", draft.postID.description, "comments"]
///     } pending: { draft, number in
///         Comment(id: -1 - number, postID: draft.postID, body: draft.body)
///     }
public struct Creation<Entity: Sendable>: Sendable {
    /// Returns the path components of the list that a draft is sent to; `nil` if it is no draft. `nil` for the endpoint's list.
    let path: (@Sendable ([UInt8], any RecordFormat) -> [String]?)?
    let pending: @Sendable ([UInt8], Int, any RecordFormat) -> Entity?
    let created: @Sendable ([UInt8], Data, any RecordFormat) throws(FieldError) -> Entity

    /// Creates a creation scheme from the types of the request and the response.
    ///
    /// - Parameters:
    ///   - draft: The type of the request body. A draft is stored until the upstream has answered, so a later version of the
    ///     program may have to decode it.
    ///   - answer: The type of the response body.
    ///   - path: Returns the path components of the list that a draft is sent to, relative to the upstream, such as `posts`, `7`
    ///     and `comments`. A component may contain any character; if the draft is sent through an outbox, any but a slash, a
    ///     backslash or a control character. The same draft must always have the same path. `nil` sends drafts to the endpoint's
    ///     list.
    ///   - pending: Returns the entity to show until the upstream has answered. It is given the draft and a number that is unique
    ///     among the pending drafts. Returns `nil` if the draft cannot be shown.
    ///   - created: Returns the entity that the upstream created.
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

    /// Creates a creation scheme for an upstream that answers with the record of the entity that it created.
    ///
    /// - Parameters:
    ///   - draft: The type of the request body, which is stored until the upstream has answered.
    ///   - record: The type of the response body.
    ///   - path: Returns the path components of the list that a draft is sent to; see
    ///     ``init(_:answer:at:pending:created:)``. `nil` sends drafts to the endpoint's list.
    ///   - pending: Returns the entity to show until the upstream has answered. It is given the draft and a number that is unique
    ///     among the pending drafts. Returns `nil` if the draft cannot be shown.
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
///     var lifetimes = Lifetimes(staleAfter: .seconds(300), staleWhileRevalidate: .seconds(60))
///     lifetimes.missingExpiresAfter = .seconds(5)
///
/// A stale response is marked as stale. It is returned only if the `ReadPolicy` or one of these limits allows it.
///
/// Values are clamped: durations to the range from zero to `Int64.max` seconds, and the jitter to the range from 0 to 1.
public struct Lifetimes: Hashable, Sendable {
    /// How long a response is fresh.
    public var staleAfter: Duration { didSet { staleAfter = Self.clamped(staleAfter) } }
    /// How long after that a stale response is still returned immediately while it is refreshed (RFC 5861, stale-while-revalidate).
    public var staleWhileRevalidate: Duration {
        didSet { staleWhileRevalidate = Self.clamped(staleWhileRevalidate) }
    }
    /// How long a stale response is returned if the upstream fails (RFC 5861, stale-if-error).
    public var staleIfError: Duration { didSet { staleIfError = Self.clamped(staleIfError) } }
    /// How long a response is cached, for reads that accept any age.
    public var expiresAfter: Duration { didSet { expiresAfter = Self.clamped(expiresAfter) } }
    /// How long a missing entity is remembered as missing; at most as long as a response is fresh.
    public var missingExpiresAfter: Duration { didSet { missingExpiresAfter = Self.clamped(missingExpiresAfter) } }
    /// The maximum share of ``staleAfter``, from 0 to 1, that is subtracted randomly, so that responses fetched together do not
    /// become stale together.
    public var jitter: Double { didSet { jitter = Self.clamped(jitter) } }

    /// Creates lifetimes. By default a response is fresh for a minute, replaces an error for a day, and is cached for a week.
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

    // Keeps the sum of two lifetimes and a clock time within the range of a duration.
    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), .seconds(Int64.max)) }

    // NaN counts as zero.
    private static func clamped(_ jitter: Double) -> Double { min(max(0, jitter), 1) }

    /// Returns how long a response, or a missing entity, is fresh. The chance, from 0 to 1, is the share of the jitter that is
    /// subtracted.
    func freshness(isAbsent: Bool, chance: Double) -> Duration {
        (isAbsent ? min(missingExpiresAfter, staleAfter) : staleAfter) * (1 - jitter * chance)
    }
}
