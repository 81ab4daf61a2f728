import Foundation
import LayerContract

@testable import check_layers

/// The package that these tests are of.
struct ThisPackage {
    /// The package, read once for all tests: SwiftPM takes seconds to describe it, and its sources take as long to read.
    static let shared = Task { try await ThisPackage() }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// What SwiftPM describes it as.
    let described: Data
    let description: PackageDescription
    let sources: [SourceFacts]
    let diagram: LayerDiagram
    let manifest: ManifestLines

    private init() async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "layers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let package = SwiftPackage(directory: Self.root.path, scratchPath: scratch.path)
        described = try await package.output(of: ["describe", "--type", "json"])
        description = try await PackageDescription(
            description: described,
            manifest: package.output(of: ["dump-package"])
        )
        sources = try await SourceReader(description).facts()
        diagram = try LayerDiagram(markdown: Self.text(of: "Architecture.md"), file: "Architecture.md")
        manifest = ManifestLines(reading: Array(try Self.text(of: "Package.swift").utf8))
    }

    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// What a check finds of another description, or of other sources.
    func findings(_ description: PackageDescription? = nil, _ sources: [SourceFacts]? = nil) throws -> [Finding] {
        try LayerCheck(
            diagram: diagram,
            package: description ?? self.description,
            sources: sources ?? self.sources,
            manifest: manifest
        ).report().findings
    }

    /// The modules that a target may not import: every other target's but those it declares, and every system module
    /// but those that its sources, or those it tests, import somewhere without a condition.
    ///
    /// It is told from what is there, and not from the diagram: that they agree is what the check itself holds.
    func forbiddenModules(for target: TargetDescription) -> [String] {
        let targets = description.targets.filter { other in
            other.name != target.name && !target.dependencies.contains(.target(other.name))
        }
        let imported = sources.filter { [target.name, target.testedName].contains($0.target) }.flatMap(\.imports)
        let allowed = Set(imported.filter(\.absentModules.isEmpty).map(\.module))
        let testing: Set<String> = target.kind == .test ? ["Testing", "XCTest"] : []
        return targets.map(\.moduleName) + Self.systemModules.subtracting(allowed).subtracting(testing).sorted()
    }

    private static let systemModules: Set<String> = [
        "CoreFoundation", "Cxx", "Darwin", "Dispatch", "Distributed", "Foundation", "FoundationEssentials",
        "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc", "Musl", "Observation",
        "PackageDescription", "PackagePlugin", "RegexBuilder", "Synchronization", "Testing", "XCTest",
    ]
}
