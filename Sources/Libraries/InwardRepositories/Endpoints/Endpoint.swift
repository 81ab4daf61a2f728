import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where an upstream has the entities of one kind, how it writes them, and how long its answers are of use.
///
/// All that a ``Repository`` has to know of them:
///
///     let comments = Endpoint(CommentDTO.self, at: "comments", lifetimes: Lifetimes(fresh: .seconds(300)))
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
