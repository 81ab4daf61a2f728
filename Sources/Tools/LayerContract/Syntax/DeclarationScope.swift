/// What a brace belongs to.
struct DeclarationScope {
    enum Kind {
        case type, protocolType, enumeration, typeExtension, body
    }

    static let body = DeclarationScope(kind: .body, access: .private)

    let kind: Kind
    /// How far members can be seen at most; of an extension, how far they can be seen if they do not say.
    let access: AccessLevel
    /// Whether the layout is part of the interface.
    var isFrozen = false
    /// What an extension extends.
    var extended: String?
    /// The type names in an extension's head: they are shown as soon as a member is.
    var head: Set<String> = []
}
