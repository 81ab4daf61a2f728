import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where an upstream has the entities of one kind, how it writes them, and how long its answers are of use.
///
/// All that a ``Repository`` has to know of them:
///
///     let comments = Endpoint(CommentDTO.self, at: "comments", lifetimes: Lifetimes(staleAfter: .seconds(300)))
public struct Endpoint<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// A list as an upstream has written it.
    struct List {
        let entities: [Entity]
        let rejected: [RejectedRecord]
    }

    /// What entities are called in messages and in keys, such as `users`. No two endpoints of an upstream have the same.
    public let name: String
    /// Where the list of all entities is, as the components of a path relative to the upstream.
    public let path: [String]
    /// How long answers are fresh, and how long they are kept.
    public let lifetimes: Lifetimes
    /// How several entities are asked for at once, if they can be.
    public let batching: Batching<Entity.ID>?
    /// How the list is asked for page by page, if it can be.
    public let paging: Paging?
    /// How an entity is created, if one can be.
    public let creation: Creation<Entity>?

    let onePath: @Sendable (Entity.ID) -> [String]
    let subjects: @Sendable (Entity) -> [RecordKey]
    let decodeOne: @Sendable (Data) throws(FieldError) -> Entity
    let decodeList: @Sendable (Data) throws(FieldError) -> List
    let encode: @Sendable (Entity) throws -> Data

    /// Describes an endpoint that has the list of its entities at a path, and each one below it.
    ///
    /// - Parameters:
    ///   - record: How the upstream writes an entity.
    ///   - path: Where the list is, relative to the upstream, such as `posts`.
    ///   - onePath: Where one entity is, as the components of a path, each of which may hold any character; `nil` for its identity
    ///     below the list, such as `posts` and `7`.
    ///   - subjects: Whose an entity is, such as `["users", "7"]`, for whoever invalidates all that is somebody's.
    ///   - lifetimes: How long answers are fresh, and how long they are kept.
    ///   - batching: How several entities are asked for at once; `nil` if they cannot be.
    ///   - paging: How the list is asked for page by page; `nil` if it cannot be.
    ///   - creation: How an entity is created by what is sent to the list; `nil` if it cannot be.
    public init<Record: RecordDTO>(
        _ record: Record.Type,
        at path: String,
        one onePath: (@Sendable (Entity.ID) -> [String])? = nil,
        subjects: @escaping @Sendable (Entity) -> [RecordKey] = { _ in [] },
        lifetimes: Lifetimes = Lifetimes(),
        batching: Batching<Entity.ID>? = nil,
        paging: Paging? = nil,
        creation: Creation<Entity>? = nil
    ) where Record.Entity == Entity {
        name = Record.listName
        let components = path.split(separator: "/").map(String.init)
        self.path = components
        self.onePath = onePath ?? { components + [String(describing: $0)] }
        self.subjects = subjects
        self.lifetimes = lifetimes
        self.batching = batching
        self.paging = paging
        self.creation = creation
        decodeOne = { json throws(FieldError) in try Record.decoded(from: json).entity() }
        decodeList = { json throws(FieldError) in
            let list = try RecordList<Record>(json)
            return List(entities: list.entities, rejected: list.rejected)
        }
        encode = { entity in try JSONEncoder().encode(Record(entity)) }
    }

    /// What an identity is called in keys.
    func key(of id: Entity.ID) -> RecordKey { [name, String(describing: id)] }

    /// What changes an entity if it is invalidated.
    func keys(of entity: Entity) -> [RecordKey] { [key(of: entity.id)] + subjects(entity) }
}

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

/// How an endpoint's list is asked for page by page.
public struct Paging: Sendable {
    enum Place {
        case number(field: String, first: Int)
        case offset(field: String)
        case cursor(field: String, next: @Sendable (DataResponse) -> String?)
    }

    let place: Place
    let sizeField: String

    /// By the number of the page.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has the number.
    ///   - first: The number of the first page.
    ///   - size: The field of the query that says how many entities a page has.
    /// - Returns: how pages are asked for. A page with fewer entities is the last.
    public static func numbers(_ field: String, first: Int = 1, size: String) -> Self {
        Self(place: .number(field: field, first: first), sizeField: size)
    }

    /// By how many entities come before the page.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has their number.
    ///   - size: The field of the query that says how many entities a page has.
    /// - Returns: how pages are asked for. A page with fewer entities is the last.
    public static func offsets(_ field: String, size: String) -> Self {
        Self(place: .offset(field: field), sizeField: size)
    }

    /// By what the page before says.
    ///
    /// - Parameters:
    ///   - field: The field of the query that has the cursor, which the first page is asked for without.
    ///   - size: The field of the query that says how many entities a page has.
    ///   - next: The cursor of the page behind an answer; `nil` if that is the last.
    /// - Returns: how pages are asked for.
    public static func cursors(
        _ field: String,
        size: String,
        next: @escaping @Sendable (DataResponse) -> String?
    ) -> Self {
        Self(place: .cursor(field: field, next: next), sizeField: size)
    }
}

/// How an entity comes to be of what is sent to an endpoint's list.
public struct Creation<Entity: Sendable>: Sendable {
    let pending: @Sendable ([UInt8], Int) -> Entity?
    let created: @Sendable ([UInt8], Data) throws(FieldError) -> Entity

    /// Describes it by what is sent and what is answered.
    ///
    /// - Parameters:
    ///   - draft: What is sent. It is kept until the upstream has answered, maybe by a later version of the program.
    ///   - answer: What the upstream says of it.
    ///   - pending: The entity as it is shown until then, of what is sent and a number that no other has that is pending; `nil` if
    ///     it cannot be shown.
    ///   - created: The entity that it is from then on.
    public init<Draft: Codable & SendableMetatype, Answer: Decodable & SendableMetatype>(
        _ draft: Draft.Type,
        answer: Answer.Type,
        pending: @escaping @Sendable (Draft, Int) -> Entity?,
        created: @escaping @Sendable (Draft, Answer) throws(FieldError) -> Entity
    ) {
        self.pending = { body, number in
            (try? Draft.decoded(from: Data(body))).flatMap { pending($0, number) }
        }
        self.created = { body, answer throws(FieldError) in
            try created(try Draft.decoded(from: Data(body)), try Answer.decoded(from: answer))
        }
    }
}
