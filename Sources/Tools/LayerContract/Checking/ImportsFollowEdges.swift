/// Rule 3: every import needs a declared dependency and an edge in the diagram.
struct ImportsFollowEdges {
    /// The modules that the compiler imports into every source implicitly.
    private static let standardLibrary: Set<String> = ["Swift", "_Concurrency", "_StringProcessing"]
    /// The testing libraries.
    private static let testing: Set<String> = ["Testing", "XCTest"]

    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        var targetModules: [String: Set<String>] = [:]
        for target in package.description.targets { targetModules[target.name] = package.productModules(of: target) }
        return package.sources.flatMap { source -> [Finding] in
            guard let target = package.targets[source.target] else { return [] }
            let products = targetModules[target.name] ?? []
            return source.imports.compactMap { finding($0, in: source, of: target, products) }
                + source.questions.compactMap { finding($0, in: source, of: target) }
        }
    }

    /// Returns whether a module needs no permission.
    static func isAlwaysAllowed(_ module: String, in target: TargetDescription) -> Bool {
        standardLibrary.contains(module) || (target.kind == .test && testing.contains(module))
    }

    private func finding(
        _ declaration: ImportDeclaration,
        in source: SourceFacts,
        of target: TargetDescription,
        _ products: Set<String>
    ) -> Finding? {
        let module = declaration.module
        if module == target.moduleName { return nil }
        if let used = package.target(ofModule: module) {
            let location = SourceLocation(file: source.path, line: declaration.line)
            return package.finding(declaration.text, at: location, target, uses: used)
        }
        if products.contains(module) || Self.isAlwaysAllowed(module, in: target) { return nil }
        let modules = package.systemModules(of: target)
        if modules.contains(where: declaration.isAllowed) { return nil }
        let substituted = modules.first { $0.name == module }?.substituted
        return foreignFinding(declaration, in: source, of: target, insteadOf: substituted)
    }

    /// Returns the finding for an import of a module that is not a target of the package.
    private func foreignFinding(
        _ declaration: ImportDeclaration,
        in source: SourceFacts,
        of target: TargetDescription,
        insteadOf substituted: String?
    ) -> Finding {
        let ring = package.ring(of: target)?.name
        let key = package.membership(of: target) == .test ? RingLabel.Key.testImports : .imports
        let module = declaration.module
        let message: String
        let remedy: String
        if let substituted {
            message =
                "“\(declaration.text)” is in \(target.name), whose ring allows \(module) only where \(substituted) is missing."
            remedy = "Write the import in the #else of `#if canImport(\(substituted))`."
        } else if let use = package.packages(of: target).first(where: {
            $0.identity == module || $0.modules.contains(module)
        }) {
            message = "“\(declaration.text)” is in \(target.name), which declares no product of \(use.identity)."
            remedy = "Add the product to the dependencies of \(target.name) in \(ManifestLines.file)."
        } else {
            message =
                "“\(declaration.text)” is in \(target.name), and "
                + (ring.map { "the ring \($0) does not allow \(module)." } ?? "\(target.name) is in no ring.")
            let hint = target.dependencies.contains { $0.package != nil }
            remedy =
                "Move the code to a ring that may use \(module), behind a protocol, or add \(module) to “\(key.rawValue):” of "
                + "\(ring ?? "its ring") in \(package.diagram.file) if that is intended."
                + (hint ? " If \(module) belongs to a package, write “packages: PACKAGE (\(module))” instead." : "")
        }
        return Finding(
            rule: .importsFollowEdges,
            location: SourceLocation(file: source.path, line: declaration.line),
            edge: "\(target.name) → \(module)",
            message: message,
            remedy: remedy
        )
    }

    /// Returns the finding for a `canImport` condition on a target that may not be used. Its result depends on which targets
    /// happen to be built already.
    private func finding(
        _ question: ModuleQuestion,
        in source: SourceFacts,
        of target: TargetDescription
    ) -> Finding? {
        guard question.module != target.moduleName, let used = package.target(ofModule: question.module),
            !package.allows(target, toUse: used)
        else { return nil }
        return Finding(
            rule: .importsFollowEdges,
            location: SourceLocation(file: source.path, line: question.line),
            edge: "\(target.name) → \(used.name)",
            message:
                "“canImport(\(question.module))” is in \(target.name), and \(package.absence(of: used, for: target)).",
            remedy:
                "Remove the condition. Its result depends on whether \(question.module) happens to be built already."
        )
    }
}

extension ImportDeclaration {
    /// Returns whether a permission covers the import. A replacement is allowed only where the other module cannot be imported.
    func isAllowed(by permission: SystemModule) -> Bool {
        permission.name == module && permission.substituted.map(absentModules.contains) ?? true
    }
}

/// Rule 5: only a ring's own tests may import its internals.
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
                    message: "“\(declaration.text)” is in \(source.target), which is not a test target of its ring.",
                    remedy:
                        "Test it through its public interface, or in a test target of the ring of \(declaration.module)."
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
