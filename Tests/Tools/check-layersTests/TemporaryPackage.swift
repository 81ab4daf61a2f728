import Foundation
import LayerContract

@testable import check_layers

/// A package on disk: `Core`, `Adapters` around it, `App` outside, and `Wires`, a separate package.
final class TemporaryPackage {
    /// The result of running the command.
    struct Answer {
        let exitCode: ExitCode
        let output: String
        let errors: String
    }

    static let files = [
        "Package.swift": """
        // swift-tools-version: 6.0
        import PackageDescription
        let package = Package(
            name: "sketch",
            dependencies: [.package(path: "Wires")],
            targets: [
                .target(
                    name: "Core",
                    dependencies: [
                    ]
                ),
                .target(
                    name: "Adapters",
                    dependencies: [
                        "Core",
                    ]
                ),
                .executableTarget(
                    name: "App",
                    dependencies: [
                        "Adapters",
                    ]
                ),
                .testTarget(
                    name: "AdaptersTests",
                    dependencies: [
                        "Adapters", "Core",
                    ]
                ),
            ]
        )
        for target in package.targets {
            target.swiftSettings = [.enableUpcomingFeature("MemberImportVisibility")]
        }
        """,
        "Architecture.md": """
        # Architecture

        ```mermaid
        flowchart LR
            App --> Adapters
            Adapters --> Core
        ```
        """,
        "Sources/Core/Users/User.swift": "public struct User {\n}",
        "Sources/Core/Posts/Post.swift": "public struct Post {\n    let author: User\n}",
        "Sources/Adapters/UserRow.swift": "import Core\nstruct UserRow {\n    let user: User\n}",
        "Sources/App/App.swift": "import Adapters",
        "Sources/Stray/Stray.swift": "struct Stray {}",
        "Tests/AdaptersTests/UserRowTests.swift": "import Core\n@testable import Adapters\nimport Testing",
        "Wires/Package.swift": """
        // swift-tools-version: 6.0
        import PackageDescription
        let package = Package(
            name: "Wires",
            products: [.library(name: "Wire", targets: ["Wire"])],
            targets: [.target(name: "Wire")]
        )
        """,
        "Wires/Sources/Wire/Wire.swift": "public struct Wire {}",
    ]

    /// SwiftPM's description of the initial package. SwiftPM needs a second for it, so the tests share it until one of them
    /// changes the manifest or adds or removes a file.
    private static let description = Task { try await TemporaryPackage().described() }

    private var isAsItBegan = true
    private let directory = FileManager.default.temporaryDirectory.appending(path: "layers-\(UUID().uuidString)")

    init() throws {
        for (path, text) in Self.files { try write(text, to: path) }
        isAsItBegan = true
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        if path.hasSuffix("Package.swift") || Self.files[path] == nil && path.hasSuffix(".swift") {
            isAsItBegan = false
        }
        let url = directory.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    func remove(_ path: String) throws {
        if path.hasSuffix(".swift") { isAsItBegan = false }
        try FileManager.default.removeItem(at: directory.appending(path: path))
    }

    func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: directory.appending(path: path)), as: UTF8.self)
    }

    /// Inserts a line into a file, so that it gets the given number.
    func insert(_ line: String, at number: Int, of path: String) throws {
        var lines = try text(of: path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.insert(line, at: number - 1)
        try write(lines.joined(separator: "\n"), to: path)
    }

    /// Returns SwiftPM's description of the package.
    private func described() async throws -> PackageDescription {
        try await SwiftPackage(directory: directory.path, scratchPath: nil).description()
    }

    /// Runs the command on the package.
    func check(_ arguments: String...) async -> Answer {
        var output = ""
        var errors = ""
        let isAsItBegan = isAsItBegan
        let command = CheckLayers(output: { output += $0 }, errors: { errors += $0 }) { package in
            guard isAsItBegan else { return try await package.description() }
            let description = try await Self.description.value
            return PackageDescription(name: description.name, path: package.directory, targets: description.targets)
        }
        let exitCode = await command.run(["--package-path", directory.path] + arguments)
        return Answer(exitCode: exitCode, output: output, errors: errors)
    }
}
