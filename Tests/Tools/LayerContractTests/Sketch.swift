import LayerContract

/// A small package in memory: `Core`, `Adapters` around it, `App` outside, and `Support`, which their tests share.
struct Sketch {
    var diagram = """
        # Architecture

        ```mermaid
        flowchart LR
            App --> Adapters
            Adapters["Adapters<br/>imports: Synchronization, FoundationEssentials else Foundation"]
            Adapters --> Core
            Adapters -.-> Support
        ```
        """
    var targets = [
        TargetDescription(name: "Core"),
        TargetDescription(name: "Adapters", dependencies: [.target("Core")]),
        TargetDescription(name: "App", kind: .executable, dependencies: [.target("Adapters")]),
        TargetDescription(name: "Support"),
        TargetDescription(name: "AdaptersTests", kind: .test, dependencies: [.target("Adapters"), .target("Support")]),
    ]
    var sources = [
        "Sources/Core/Users/User.swift": "public struct User {}",
        "Sources/Adapters/Users/UserRow.swift": """
        public import Core
        import Synchronization
        #if canImport(FoundationEssentials)
        import FoundationEssentials
        #else
        import Foundation
        #endif
        public struct UserRow { public let user: User }
        """,
        "Sources/App/App.swift": "import Adapters",
        "Sources/Support/Example.swift": "public struct Example {}",
        "Tests/AdaptersTests/UserRowTests.swift": """
        import Support
        import Testing
        @testable import Adapters
        """,
    ]
    var manifest = ""

    /// Returns the findings of a check.
    func findings() throws -> [Finding] { try report().findings }

    func report() throws -> LayerReport {
        try LayerCheck(
            diagram: LayerDiagram(markdown: diagram, file: "Architecture.md"),
            package: PackageDescription(name: "sketch", targets: targets),
            sources: facts(),
            manifest: ManifestLines(reading: Array(manifest.utf8))
        ).report()
    }

    func facts() throws -> [SourceFacts] {
        try sources.sorted { $0.key < $1.key }.map { path, text in
            let parts = path.split(separator: "/")
            guard path.hasSuffix(".swift") else {
                return SourceFacts(readingC: Array(text.utf8), path: path, target: String(parts[1]))
            }
            return try SourceFacts(
                reading: Array(text.utf8),
                path: path,
                target: String(parts[1]),
                subject: parts.count > 3 ? String(parts[2]) : nil
            )
        }
    }

    /// Returns the sketch with an additional line at the top of a source.
    func with(_ line: String, in path: String) -> Sketch {
        var sketch = self
        sketch.sources[path] = line + "\n" + (sketch.sources[path] ?? "")
        return sketch
    }

    /// Returns the sketch with an additional line in its diagram.
    func drawing(_ line: String) -> Sketch {
        var sketch = self
        sketch.diagram = String(sketch.diagram.dropLast(3)) + "    \(line)\n```"
        return sketch
    }

    /// Returns the sketch with an additional dependency.
    func declaring(_ dependency: TargetDependency, in name: String) -> Sketch {
        var sketch = self
        sketch.targets = targets.map { target in
            var target = target
            if target.name == name { target.dependencies.append(dependency) }
            return target
        }
        return sketch
    }
}
