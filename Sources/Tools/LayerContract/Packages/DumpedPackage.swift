/// What is read of `swift package dump-package`.
struct DumpedPackage: Decodable {
    struct Target: Decodable {
        let name: String
        let dependencies: [DumpedDependency]
        let pluginUsages: [DumpedDependency]?

        /// The dependencies, with names told apart: of a target, or of a package's product.
        func resolved(among targets: Set<String>, _ packages: [String]) -> [TargetDependency] {
            dependencies.map { $0.resolved(among: targets, packages) }
                + (pluginUsages ?? []).map { $0.resolved(among: targets, packages) }
        }
    }

    let targets: [Target]
    let dependencies: [[String: [PackageReference]]]

    struct PackageReference: Decodable {
        let identity: String
    }

    /// The packages that the manifest names.
    var packageIdentities: [String] { dependencies.flatMap { $0.values.flatMap { $0.map(\.identity) } } }
}
