/// Rule 10: code that needs an import must not be reached without one.
struct NoBackDoors {
    private static let objectiveC = ["Foundation", "ObjectiveC"]

    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        package.sources.flatMap { source -> [Finding] in
            guard let target = package.targets[source.target], let ring = package.ring(of: target) else { return [] }
            return source.backDoors.filter { !isOpen($0, to: target) }.map { finding($0, in: source, of: target, ring) }
        }
    }

    private func isOpen(_ backDoor: BackDoor, to target: TargetDescription) -> Bool {
        Self.modules(for: backDoor.key).contains { module in
            package.systemModules(of: target).contains { $0.name == module }
        }
    }

    private static func modules(for key: BackDoor.Key) -> [String] {
        switch key {
        case .objectiveC: objectiveC
        case .platform: SystemHeaders.platformModules
        case .none: []
        }
    }

    private func finding(
        _ backDoor: BackDoor,
        in source: SourceFacts,
        of target: TargetDescription,
        _ ring: Ring
    ) -> Finding {
        let reason: String
        let remedy: String
        switch backDoor.key {
        case .none:
            reason = "it reaches other code without an import, which no ring may do."
            remedy = "Import that code, or wrap it in C code that the diagram names."
        case .objectiveC, .platform:
            let isPlatform = backDoor.key == .platform
            reason =
                "the ring \(ring.name) may not import \(isPlatform ? "a platform's C library" : "Foundation or ObjectiveC")."
            let key = package.membership(of: target) == .test ? RingLabel.Key.testImports : .imports
            remedy =
                "Move the code to a ring that may use it, behind a protocol, or add "
                + (isPlatform ? "Glibc else Musl else Darwin" : "Foundation")
                + " to “\(key.rawValue):” of \(ring.name) in \(package.diagram.file) if that is intended."
        }
        return Finding(
            rule: .noBackDoors,
            location: SourceLocation(file: source.path, line: backDoor.line),
            edge: "\(target.name) → \(backDoor.text)",
            message: "“\(backDoor.text)” is in \(target.name), and \(reason)",
            remedy: remedy
        )
    }
}
