import Foundation

/// The role of a target for a subject.
enum TargetRole: String, CaseIterable {
    case entities
    case useCases = "use-cases"
    case adapters
    case composition
    case doubles

    /// The default name of the target.
    var defaultName: String {
        switch self {
        case .entities: "Entities"
        case .useCases: "UseCases"
        case .adapters: "InterfaceAdapters"
        case .composition: "Composition"
        case .doubles: "UseCasesTesting"
        }
    }

    /// The suffix of the ring's name in the diagram, as in `ShopEntities`, if no ring has the default name.
    var ending: String {
        switch self {
        case .adapters: "Adapters"
        case .entities, .useCases, .composition, .doubles: defaultName
        }
    }

    /// The contents of the target, for messages.
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

/// The place of a subject's file: the sources of a role, or their tests.
enum FilePlace: Hashable {
    case sources(TargetRole)
    case tests(TargetRole)
}

/// A Swift target of the package, or of a package that it depends on, as the plugin lists it.
struct PackageTarget: Decodable, Equatable {
    /// The name in the manifest.
    let name: String
    /// The name that sources import the target by.
    let moduleName: String
    /// The directory of the sources: relative to the package, or absolute for a target of another package.
    let directory: String
    /// The names of the modules that the manifest lets the target import.
    let dependencies: [String]

    /// Whether the target belongs to the package that the subject is written to.
    var isInPackage: Bool { !directory.hasPrefix("/") }

    /// Reads the targets that the plugin listed.
    ///
    /// - Throws: ``ScaffoldError/cannotBeRead(_:_:)`` if the file cannot be read.
    static func all(inFileAt path: String) throws(ScaffoldError) -> [PackageTarget] {
        do {
            return try JSONDecoder().decode([PackageTarget].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw .cannotBeRead(path, error.localizedDescription)
        }
    }
}
