import Foundation
import LayerContract
import Testing

@testable import check_layers

/// Tests that this package has no findings, and that the check reports each forbidden change to it.
struct MutationTests {
    /// The ways to write an import; `M` is the module.
    private static let forms = [
        "import M", "public import M", "package import M", "internal import M", "fileprivate import M",
        "private import M",
        "@testable import M", "@_exported import M", "@preconcurrency import M", "@_implementationOnly import M",
        "@_spi(Secret) public import M", "import struct M.Thing", "import func M.thing", "import class M::Thing",
        "import M.Sub", "import `M`",
        "import\n    M", "let _x = 0; import M", "/* why */ import M // so", "#if os(Windows)\nimport M\n#endif",
        "#if DEBUG\n#elseif canImport(M)\n@testable\nimport M\n#endif", "#if true\n#else\nimport class M.Thing\n#endif",
    ]

    /// The value of the environment variable `MUTATIONS`.
    ///
    /// Without it, the tests try a sample of the forbidden edges and imports, and do not change the manifest. With `all`, which
    /// takes minutes, they try every edge and every hundred and first import, and change the manifest for every four hundred and
    /// first edge. The rule for edges judges every edge, and the whole check every hundred and first one.
    /// With `manifest`, they change the manifest for every edge. SwiftPM needs half a second to read each changed manifest, and
    /// the other edges are tried on SwiftPM's description instead, which gives the check the same input.
    private static let wanted = ProcessInfo.processInfo.environment["MUTATIONS"]
    static let areAllWanted = ["all", "manifest"].contains(wanted)

    private static func isWanted(_ place: Int, of all: Int = 1) -> Bool {
        place.isMultiple(of: areAllWanted ? all : 1_201)
    }

    @Test func packageKeepsItsContract() async throws {
        #expect(try await ThisPackage.shared.value.findings() == [])
    }

    @Test func architectureQuotesTheCheckAsItPrints() async throws {
        let package = try await ThisPackage.shared.value
        let path = "Sources/Rings/UseCases/ListUsers.swift"
        let text = "import Foundation\n" + (try ThisPackage.text(of: path))
        let mutant = try SourceFacts(reading: Array(text.utf8), path: path, target: "UseCases", subject: nil)
        let report = try package.report(nil, package.sources.map { $0.path == path ? mutant : $0 })
        let printed = try report.formatted(as: .text)
        let page = try ThisPackage.text(of: "Architecture.md")
        let quoted = try #require(page.firstMatch(of: #/(?s)it fails, and says.*?```text\n(.*?)```/#)?.1)
        // The page leaves out the statistics at the end.
        #expect(printed == "\(quoted)\n\(report.summary)\n")
    }

    @Test func everyForbiddenImportInEverySourceIsCaught() async throws {
        let package = try await ThisPackage.shared.value
        let counts = try await withThrowingTaskGroup(of: (imports: Int, files: Int).self) { group in
            for target in package.description.targets {
                group.addTask { try Self.mutateImports(of: target, in: package) }
            }
            return try await group.reduce(into: (imports: 0, files: 0)) { sum, count in
                sum.imports += count.imports
                sum.files += count.files
            }
        }
        #expect(counts.files == package.sources.count { $0.path.hasSuffix(".swift") })
        print("\(counts.imports) forbidden imports in \(counts.files) source files were caught, one at a time.")
    }

    /// Adds each forbidden module to each source of a target. The form and the place of the import vary.
    private static func mutateImports(
        of target: TargetDescription,
        in package: ThisPackage
    ) throws -> (imports: Int, files: Int) {
        let forbidden = package.forbiddenModules(for: target)
        var count = 0
        var place = 0
        let sources = target.sources.filter { $0.hasSuffix(".swift") }
        for source in sources {
            let path = "\(target.path)/\(source)"
            let wanted = forbidden.filter { _ in
                place += 1
                return isWanted(place, of: 101)
            }
            if wanted.isEmpty { continue }
            let places = places(in: try ThisPackage.text(of: path))
            for module in wanted {
                let form = forms[count % forms.count].replacing("M", with: module)
                let mutant = places[count % places.count](form)
                let facts = try SourceFacts(
                    reading: Array(mutant.utf8),
                    path: path,
                    target: target.name,
                    subject: target.subject(of: source)
                )
                let known = try package.findings(nil, [facts]).filter { $0.location.file == path }
                #expect(known.contains { $0.rule == .importsFollowEdges }, "\(form) in \(path)")
                count += 1
            }
        }
        return (count, sources.count)
    }

    /// Returns functions that add a line to a source: at the beginning, at the end, or before one of its declarations.
    private static func places(in text: String) -> [@Sendable (String) -> String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let declarations = lines.indices.dropFirst().filter { index in
            let begins = ["///", "public ", "struct ", "extension ", "enum ", "final ", "@"].contains {
                lines[index].hasPrefix($0)
            }
            return lines[index - 1].isEmpty && begins
        }
        return ([0] + declarations + [lines.count]).map { index in
            { line in (lines[..<index] + [line] + lines[index...]).joined(separator: "\n") }
        }
    }

    @Test func everyForbiddenEdgeOfTheDescriptionIsCaught() async throws {
        let package = try await ThisPackage.shared.value
        let edges = Self.undeclaredEdges(of: package.description).enumerated()
            .filter { Self.isWanted($0.offset) }
        let count = try await Self.countChecked(edges) { place, edge in
            let mutant = Self.declaring(edge.used, of: edge.target, in: package.description)
            // Most edges break the same rule, which alone is quick.
            let findings = Self.isWanted(place, of: 101) ? [] : package.findingsAboutEdges(mutant)
            Self.expect(findings.isEmpty ? try package.findings(mutant) : findings, toName: edge.target, edge.used)
        }
        print("\(count) undeclared edges were caught in the description, one at a time.")
    }

    /// The same test with changes to the manifest itself, which SwiftPM reads each time.
    @Test(.enabled(if: areAllWanted))
    func everyForbiddenEdgeOfTheManifestIsCaught() async throws {
        let package = try await ThisPackage.shared.value
        // SwiftPM rejects a manifest in which a system library has a dependency.
        let systemLibraries = package.description.targets.filter { $0.kind == .other && $0.sources.isEmpty }.map(\.name)
        let possible = Self.undeclaredEdges(of: package.description).filter { !systemLibraries.contains($0.target) }
        let edges = possible.enumerated()
            .filter { Self.wanted == "manifest" || $0.offset.isMultiple(of: 401) }
        let count = try await Self.countChecked(edges) { _, edge in
            let mutant = try await Self.description(of: package, declaring: edge.used, of: edge.target)
            Self.expect(try package.findings(mutant), toName: edge.target, edge.used)
        }
        print("\(count) undeclared edges were caught in the manifest, one at a time.")
    }

    /// Checks edges, two at a time, and returns how many were checked.
    private static func countChecked(
        _ edges: [(offset: Int, element: (target: String, used: String))],
        _ check: @escaping @Sendable (_ place: Int, _ edge: (target: String, used: String)) async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for first in 0..<2 {
                group.addTask {
                    var count = 0
                    for index in stride(from: first, to: edges.count, by: 2) {
                        try await check(edges[index].offset, edges[index].element)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func undeclaredEdges(of package: PackageDescription) -> [(target: String, used: String)] {
        package.targets.flatMap { target in
            package.targets.filter { used in
                used.name != target.name && !target.dependencies.contains(.target(used.name))
            }.map { (target.name, $0.name) }
        }
    }

    private static func expect(_ findings: [Finding], toName target: String, _ used: String) {
        let found = findings.filter { $0.edge == "\(target) → \(used)" }
        #expect(!found.isEmpty, "\(target) → \(used)")
        #expect(found.count == findings.count, "\(target) → \(used) and others")
    }

    private static func declaring(_ used: String, of name: String, in package: PackageDescription) -> PackageDescription
    {
        var package = package
        package.targets = package.targets.map { target in
            var target = target
            if target.name == name { target.dependencies.append(.target(used)) }
            return target
        }
        return package
    }

    /// Returns the description of the package after a dependency was added to its manifest.
    private static func description(
        of package: ThisPackage,
        declaring used: String,
        of name: String
    ) async throws -> PackageDescription {
        let directory = FileManager.default.temporaryDirectory.appending(path: "layers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let manifest = try ThisPackage.text(of: "Package.swift")
        let line =
            "\nfor target in package.targets where target.name == \"\(name)\" { target.dependencies.append(\"\(used)\") }\n"
        try Data((manifest + line).utf8).write(to: directory.appending(path: "Package.swift"))
        let dumped = try await SwiftPackage(directory: directory.path, scratchPath: directory.path).output(of: [
            "dump-package"
        ])
        return try PackageDescription(description: package.described, manifest: dumped)
    }
}
