/// Rule 6: a package is a decision of the diagram.
struct PackagesAreNamed {
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
        guard let identity = dependency.package, package.permissions(for: identity, of: target).isEmpty else {
            return nil
        }
        let ring = package.ring(of: target)?.name
        let key = package.membership(of: target) == .test ? RingLabel.Key.testPackages : .packages
        return Finding(
            rule: .packagesAreNamed,
            location: package.manifest.location(ofDependency: dependency, of: target.name),
            edge: "\(target.name) → \(identity)",
            message:
                "\(target.name) uses \(dependency.name) of the package \(identity), and "
                + (ring.map { "the ring \($0) does not name it." } ?? "\(target.name) is in no ring."),
            remedy:
                "Use it in a ring that may, behind a protocol; or add it to “\(key.rawValue):” of \(ring ?? "its ring") in "
                + "\(package.diagram.file) if it is meant."
        )
    }
}
