/// Rule 2: what the manifest declares, the diagram draws.
struct DependenciesFollowEdges {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        package.description.targets.flatMap { target in
            target.dependencies.compactMap { dependency in finding(target, dependency) }
        }
    }

    private func finding(_ target: TargetDescription, _ dependency: TargetDependency) -> Finding? {
        guard case .target(let name) = dependency, let used = package.targets[name],
            !package.allows(target, toUse: used)
        else { return nil }
        return Finding(
            rule: .dependenciesFollowEdges,
            location: package.manifest.location(ofDependency: dependency, of: target.name),
            edge: "\(target.name) → \(name)",
            message: "\(target.name) declares a dependency on \(name), and \(package.absence(of: used, for: target)).",
            remedy: package.remedy(for: target, using: used, instead: "Remove the dependency")
        )
    }
}
