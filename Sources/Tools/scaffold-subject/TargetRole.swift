import Foundation

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

/// A Swift target that the plugin found, of the package or of a package that it depends on.
struct PackageTarget: Decodable, Equatable {
    /// The name in the manifest.
    let name: String
    /// The name that sources import it by.
    let moduleName: String
    /// Where its sources are: relative to the package, or the whole path of another package's target.
    let directory: String
    /// The names of the modules that the manifest lets it import.
    let dependencies: [String]

    /// Whether the target belongs to the package that the subject is written into.
    var isInPackage: Bool { !directory.hasPrefix("/") }

    /// Reads the targets that the plugin has written down.
    ///
    /// - Throws: ``ScaffoldError/cannotBeRead(_:_:)``.
    static func all(inFileAt path: String) throws(ScaffoldError) -> [PackageTarget] {
        do {
            return try JSONDecoder().decode([PackageTarget].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw .cannotBeRead(path, error.localizedDescription)
        }
    }
}
