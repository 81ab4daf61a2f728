/// A part that a target plays for a subject.
enum TargetRole: String, CaseIterable {
    case entities
    case useCases = "use-cases"
    case adapters
    case composition
    case doubles

    /// What the target is called unless the package says otherwise.
    var defaultName: String {
        switch self {
        case .entities: "Entities"
        case .useCases: "UseCases"
        case .adapters: "InterfaceAdapters"
        case .composition: "Composition"
        case .doubles: "UseCasesTesting"
        }
    }

    /// How the diagram's ring may end if it does not have the default name, such as `ShopEntities`.
    var ending: String {
        switch self {
        case .adapters: "Adapters"
        case .entities, .useCases, .composition, .doubles: defaultName
        }
    }

    /// What the target holds, for messages.
    var purpose: String {
        switch self {
        case .entities: "the entities"
        case .useCases: "the use cases and their ports"
        case .adapters: "the repositories and presenters"
        case .composition: "the containers"
        case .doubles: "the test doubles"
        }
    }
}

/// Where a file of a subject goes: to the sources of a role, or to the tests of these sources.
enum FilePlace: Hashable {
    case sources(TargetRole)
    case tests(TargetRole)
}
