/// Rule 3 for C, C++, and Objective-C: every include needs a declared dependency and an edge in the diagram.
struct IncludesFollowEdges {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        package.description.targets.flatMap { target in
            (package.headers.uses[target.name] ?? []).compactMap { finding($0, of: target) }
        }
    }

    private func finding(_ use: HeaderIndex.Use, of target: TargetDescription) -> Finding? {
        switch use.origin {
        case .target(let name):
            package.targets[name].flatMap { package.finding(use.include.text, at: use.location, target, uses: $0) }
        case .module(let module):
            isAllowed(module, in: target) ? nil : finding(use, ofModule: module, in: target)
        case .macro:
            finding(
                use,
                of: target,
                module: use.include.header,
                "a macro names the header, so the check cannot tell what it includes.",
                "Name the header itself, in each branch of a condition if the branches differ."
            )
        }
    }

    private func isAllowed(_ module: String, in target: TargetDescription) -> Bool {
        package.systemModules(of: target).contains { SystemHeaders.isSame($0.name, module) }
            || package.productModules(of: target).contains { SystemHeaders.isSame($0, module) }
    }

    private func finding(_ use: HeaderIndex.Use, ofModule module: String, in target: TargetDescription) -> Finding {
        let isOfPlatform = SystemHeaders.platformModules.contains(module)
        let what = isOfPlatform ? "headers of the platform's C library" : "headers of \(module)"
        let key = package.membership(of: target) == .test ? RingLabel.Key.testImports : .imports
        let ring = package.ring(of: target)?.name
        let permission = isOfPlatform ? "Glibc else Musl else Darwin" : module
        let hint =
            isOfPlatform || use.include.form == .module
            ? "" : " Targets that depend on a system library may include its headers."
        return finding(
            use,
            of: target,
            module: module,
            ring.map { "the ring \($0) does not allow \(what)." } ?? "\(target.name) is in no ring.",
            "Move the code to a ring that may use it, or add \(permission) to “\(key.rawValue):” of \(ring ?? "its ring") in "
                + "\(package.diagram.file) if that is intended.\(hint)"
        )
    }

    private func finding(
        _ use: HeaderIndex.Use,
        of target: TargetDescription,
        module: String,
        _ reason: String,
        _ remedy: String
    ) -> Finding {
        Finding(
            rule: .importsFollowEdges,
            location: use.location,
            edge: "\(target.name) → \(module)",
            message: "“\(use.include.text)” is in \(target.name), and \(reason)",
            remedy: remedy
        )
    }
}
