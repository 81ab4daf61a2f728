import Foundation
import LayerContract

@testable import check_layers

/// The package that contains these tests.
struct ThisPackage {
    /// The package, which is read once for all tests, because SwiftPM takes seconds to describe it, and reading its sources
    /// takes as long.
    static let shared = Task { try await ThisPackage() }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The output of `swift package describe`.
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

    private func check(_ description: PackageDescription?, _ sources: [SourceFacts]? = nil) -> LayerCheck {
        LayerCheck(
            diagram: diagram,
            package: description ?? self.description,
            sources: sources ?? self.sources,
            manifest: manifest
        )
    }

    /// Returns the report of a check with another description, or with other sources.
    func report(_ description: PackageDescription? = nil, _ sources: [SourceFacts]? = nil) throws -> LayerReport {
        try check(description, sources).report()
    }

    /// Returns the findings of a check with another description, or with other sources.
    func findings(_ description: PackageDescription? = nil, _ sources: [SourceFacts]? = nil) throws -> [Finding] {
        try report(description, sources).findings
    }

    /// Returns the findings of the rule about edges with another description.
    func findingsAboutEdges(_ description: PackageDescription) -> [Finding] {
        check(description).findingsAboutEdges
    }

    /// Returns the modules that a target may not import: the modules of all targets that it does not declare, and all system
    /// modules that neither its sources nor the sources under test import unconditionally.
    ///
    /// The modules are not taken from the diagram, because the tests compare the check with the diagram.
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
