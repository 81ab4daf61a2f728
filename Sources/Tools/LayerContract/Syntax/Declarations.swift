/// What a source declares, and what it shows of other modules in doing so.
struct Declarations: Sendable {
    /// A name that stands for a type of somebody else's.
    struct Alias: Sendable {
        let name: String
        let aliased: [String]
        let line: Int
    }

    /// The types in extensions that other files can see, behind what is extended: `Extended.Name`.
    var extensionTypes: Set<String> = []
    /// The types at the top of the file that other files can see.
    var topLevelTypes: Set<String> = []
    /// The generic parameters and associated types.
    var parameters: Set<String> = []
    /// The types at any depth.
    var types: Set<String> = []
    /// The types at any depth that other modules can see.
    var visibleTypes: Set<String> = []
    /// The type names that declarations show, by the level at which they can be seen.
    var shown: [AccessLevel: Set<String>] = [:]
    /// The levels at which something is shown that the source does not tell: an inferred type, an inlined body.
    var unsettled: Set<AccessLevel> = []
    /// The aliases that other modules can see.
    var aliases: [Alias] = []
}
