/// Rule 5: internals are for a ring's own tests.
struct TestableByOwnTests {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        package.sources.flatMap { source in
            source.imports.filter { $0.isTestable && !isOwn($0.module, for: source.target) }.map { declaration in
                Finding(
                    rule: .testableByOwnTests,
                    location: SourceLocation(file: source.path, line: declaration.line),
                    edge: "\(source.target) → \(declaration.module)",
                    message: "“\(declaration.text)” is in \(source.target), which is no test target of its ring.",
                    remedy:
                        "Test it through what is public, or in a test target of the ring that \(declaration.module) is in."
                )
            }
        }
    }

    private func isOwn(_ module: String, for name: String) -> Bool {
        guard let target = package.targets[name], target.kind == .test else { return false }
        guard let tested = package.target(ofModule: module) else { return false }
        if target.testedName == tested.name { return true }
        return package.ring(of: target).map { $0.name == package.ring(of: tested)?.name } ?? false
    }
}
