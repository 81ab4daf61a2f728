import Foundation

@testable import scaffold_subject

/// A package of a test's own, with a manifest and the directories of the targets that a subject is written into, which goes when the test is done with it.
final class TemporaryPackage {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        try write("", to: "Package.swift")
        for template in FileTemplate.all {
            let target = template.path.split(separator: "/").prefix(3).joined(separator: "/")
            try FileManager.default.createDirectory(
                at: directory.appending(path: target),
                withIntermediateDirectories: true
            )
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    var path: String { directory.path(percentEncoded: false) }

    /// The paths of all files but the manifest, in their order.
    var files: [String] {
        let paths = FileManager.default.subpaths(atPath: path) ?? []
        return paths.filter { $0.hasSuffix(".swift") && $0 != "Package.swift" }.sorted()
    }

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
