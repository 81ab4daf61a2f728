/// A record as an upstream writes it, which may become an entity, and as a store keeps it.
public protocol RecordDTO: Codable, SendableMetatype {
    /// What a record describes.
    associatedtype Entity: Identifiable & Sendable

    /// What a list of these records is called in messages and in keys, such as `users`.
    static var listName: String { get }

    /// The record that describes an entity.
    init(_ entity: Entity)

    /// The entity that the record describes.
    ///
    /// - Throws: a ``FieldError`` that names the field which breaks one of the entity's rules.
    func entity() throws(FieldError) -> Entity
}
