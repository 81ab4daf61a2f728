import Foundation

@testable import scaffold_subject

/// A temporary package with a manifest, target directories and the plugin's target list. It is deleted with its last reference.
final class TemporaryPackage {
    let targets: [PackageTarget]
    private let directory: URL

    init(_ targets: [PackageTarget]) throws {
        self.targets = targets
        directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        try write("", to: "Package.swift")
        for target in targets where target.isInPackage {
            try FileManager.default.createDirectory(
                at: directory.appending(path: target.directory),
                withIntermediateDirectories: true
            )
        }
        let list = targets.map { target in
            """
            {"name": "\(target.name)", "moduleName": "\(target.moduleName)", "directory": "\(target.directory)",
             "dependencies": [\(target.dependencies.map { "\"\($0)\"" }.joined(separator: ", "))]}
            """
        }
        try write("[\(list.joined(separator: ",\n"))]", to: "targets.json")
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var path: String { directory.path(percentEncoded: false) }

    var targetList: String { directory.appending(path: "targets.json").path(percentEncoded: false) }

    /// The paths of all Swift files except the manifest, sorted.
    var files: [String] { paths.filter { $0.hasSuffix(".swift") && $0 != "Package.swift" } }

    /// The paths of all files and folders in the package, sorted.
    var paths: [String] { (FileManager.default.subpaths(atPath: path) ?? []).sorted() }

    func write(_ contents: String, to path: String) throws {
        let file = directory.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: file)
    }

    func contents(of path: String) throws -> String {
        try String(contentsOf: directory.appending(path: path), encoding: .utf8)
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(at: directory.appending(path: path))
    }
}

extension [PackageTarget] {
    /// Returns the targets of a package, and a test target for each of the given roles.
    ///
    /// - Parameters:
    ///   - name: Returns the name of a role's target, or `nil` if the package has none.
    ///   - place: The directory of the targets, such as `Sources/Rings`.
    ///   - testPlace: The directory of the test targets.
    ///   - roles: The roles whose targets have test targets.
    /// - Returns: The targets, each followed by its test target.
    static func example(
        named name: (TargetRole) -> String? = \.defaultName,
        in place: String = "Sources/Rings",
        testsIn testPlace: String = "Tests/Rings",
        testsOf roles: [TargetRole] = TargetRole.allCases
    ) -> Self {
        let libraries = [
            "InwardCore", "InwardFetching", "InwardRepositories", "InwardScopes", "InwardTesting",
        ]
        let dependencies = libraries + TargetRole.allCases.compactMap(name)
        return TargetRole.allCases.flatMap { role in
            guard let name = name(role) else { return [PackageTarget]() }
            let sources = PackageTarget(name, in: "\(place)/\(name)", dependencies)
            let tests = PackageTarget("\(name)Tests", in: "\(testPlace)/\(name)Tests", dependencies)
            return roles.contains(role) ? [sources, tests] : [sources]
        }
    }
}

extension PackageTarget {
    init(_ name: String, in directory: String, _ dependencies: [String] = []) {
        self.init(name: name, moduleName: name, directory: directory, dependencies: dependencies)
    }
}
