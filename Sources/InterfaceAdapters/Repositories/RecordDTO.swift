/// A record as an upstream writes it, which may become an entity.
protocol RecordDTO: Decodable {
    associatedtype Entity: Identifiable

    /// What a list of these records is called in messages, such as `users`.
    static var listName: String { get }

    /// The entity that the record describes.
    ///
    /// - Throws: a ``FieldError`` that names the field which breaks one of the entity's rules.
    func entity() throws(FieldError) -> Entity
}
