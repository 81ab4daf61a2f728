/// What is read of `swift package describe --type json`.
struct DescribedPackage: Decodable {
    struct Target: Decodable {
        let name: String
        let c99name: String
        let type: String
        let moduleType: String
        let path: String
        let sources: [String]

        private enum CodingKeys: String, CodingKey {
            case name, c99name, type, path, sources
            case moduleType = "module_type"
        }

        func description(dependencies: [TargetDependency]) -> TargetDescription {
            TargetDescription(
                name: name,
                moduleName: c99name,
                kind: kind,
                path: path,
                sources: sources,
                dependencies: dependencies
            )
        }

        private var kind: TargetDescription.Kind {
            switch type {
            case "test": .test
            case "plugin": .plugin
            case "macro": .macro
            case "executable": .executable
            case "library" where moduleType == "SwiftTarget": .library
            default: .other
            }
        }
    }

    let name: String
    let path: String
    let targets: [Target]
}
