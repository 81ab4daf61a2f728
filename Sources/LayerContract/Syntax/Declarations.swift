/// What a source declares, and what it shows of other modules in doing so.
struct Declarations: Sendable {
    /// A name that stands for a type of somebody else's.
    struct Alias: Sendable {
        let name: String
        let aliased: [String]
        let line: Int
    }

    /// The types at the top of the file that other files can see, and the functions there.
    var topLevelTypes: Set<String> = []
    var topLevelFunctions: Set<String> = []
    /// The types at any depth, with the generic parameters and associated types.
    var types: Set<String> = []
    /// The types at any depth that other modules can see.
    var visibleTypes: Set<String> = []
    /// The members of types, but for those in plain extensions.
    var members: Set<String> = []
    /// The members that extensions without a conformance add, by the extended type.
    var extensionMembers: [String: Set<String>] = [:]
    /// The type names that declarations show, by the level at which they can be seen.
    var shown: [AccessLevel: Set<String>] = [:]
    /// The levels at which something is shown whose type is inferred from what is called.
    var inferred: Set<AccessLevel> = []
    /// The aliases at the top of the file that other modules can see.
    var aliases: [Alias] = []
}
