import Foundation

@testable import scaffold_subject

/// A package of a test's own, with a manifest, directories of targets and the plugin's list of them. It is removed with the
/// last reference.
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

    /// The paths of all Swift files but the manifest, in their order.
    var files: [String] { paths.filter { $0.hasSuffix(".swift") && $0 != "Package.swift" } }

    /// The paths of everything in the package, in their order.
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
    /// The targets of a package with these names for the roles, and a test target for each of the given roles.
    ///
    /// - Parameters:
    ///   - name: The name of a role's target; `nil` if the package has none.
    ///   - place: Where the targets are, such as `Sources/Rings`.
    ///   - testPlace: Where their tests are.
    ///   - roles: The roles whose targets have tests.
    /// - Returns: the targets, each followed by its tests.
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
