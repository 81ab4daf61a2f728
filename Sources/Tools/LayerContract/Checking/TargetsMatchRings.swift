/// Rule 1: every target must be in a ring, and every ring must have a target.
struct TargetsMatchRings {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] { unlistedTargets + imaginaryTargets + misplacedTargets }

    private var unlistedTargets: [Finding] {
        package.description.targets.filter { package.ring(of: $0) == nil }.map { target in
            let remedy =
                target.kind == .test
                ? "Name it after the target that it tests, or add it to “tests:” of a ring in \(package.diagram.file)."
                : "Draw it in \(package.diagram.file) as a ring of its own, or add it to “targets:” of one."
            return Finding(
                rule: .targetsMatchRings,
                location: package.manifest.location(ofTarget: target.name),
                edge: target.name,
                message: "The target \(target.name) is in no ring of the diagram.",
                remedy: remedy
            )
        }
    }

    private var imaginaryTargets: [Finding] {
        package.diagram.rings.flatMap { ring in
            (ring.targets + ring.testTargets).filter { package.targets[$0] == nil }.map { target in
                Finding(
                    rule: .targetsMatchRings,
                    location: package.diagram.location(of: ring),
                    edge: target,
                    message: ring.namesTargets || ring.testTargets.contains(target)
                        ? "The ring \(ring.name) names a target \(target) that the package does not have."
                        : "The ring \(ring.name) has no target: the package has no target of this name.",
                    remedy: "Remove it from the diagram, or add the target to \(ManifestLines.file)."
                )
            }
        }
    }

    private var misplacedTargets: [Finding] {
        package.diagram.rings.flatMap { ring in
            ring.testTargets.filter { name in package.targets[name].map { $0.kind != .test } ?? false }.map { name in
                Finding(
                    rule: .targetsMatchRings,
                    location: package.diagram.location(of: ring),
                    edge: name,
                    message: "The ring \(ring.name) names \(name) as a test target, but it is not one.",
                    remedy: "Draw it as a ring of its own, with dotted arrows to it from the rings whose tests use it."
                )
            }
        }
    }
}

/// Rule 2: every declared dependency must follow an edge of the diagram.
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

/// Rule 6: every package dependency must be named in the diagram.
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
                "Move the code to a ring that may use \(identity), behind a protocol, or add \(identity) to “\(key.rawValue):” of "
                + "\(ring ?? "its ring") in \(package.diagram.file) if that is intended."
        )
    }
}
