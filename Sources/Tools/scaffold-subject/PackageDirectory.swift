import Foundation
import LayerContract

/// The package that a subject is written to.
struct PackageDirectory {
    private let directory: URL

    /// Opens the package in a directory.
    ///
    /// - Throws: ``ScaffoldError/noPackage(_:)`` if there is no manifest.
    init(path: String) throws(ScaffoldError) {
        directory = URL(filePath: path, directoryHint: .isDirectory)
        guard exists("Package.swift") else { throw .noPackage(directory.path(percentEncoded: false)) }
    }

    /// The package's layer diagram, or `nil` if Architecture.md has no valid one.
    var diagram: LayerDiagram? {
        let file = "Architecture.md"
        guard let text = try? String(contentsOf: url(of: file), encoding: .utf8) else { return nil }
        return try? LayerDiagram(markdown: text, file: file)
    }

    /// Returns the file-level types that a target declares: their names, each with the path of its file.
    func declaredTypes(in target: PackageTarget) -> [String: String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: systemPath(of: target.directory))) ?? []
        var types: [String: String] = [:]
        for path in paths.filter({ $0.hasSuffix(".swift") }).sorted() {
            let path = target.directory.isEmpty ? path : "\(target.directory)/\(path)"
            guard let text = try? String(contentsOf: url(of: path), encoding: .utf8) else { continue }
            for name in text.declaredTypes where types[name] == nil { types[name] = path }
        }
        return types
    }

    /// Checks that the directories of the targets exist.
    ///
    /// - Throws: ``ScaffoldError/noDirectories(_:)`` if any of the directories does not exist.
    func checkDirectories(of targets: [PackageTarget]) throws(ScaffoldError) {
        let missing = targets.filter { !exists($0.directory) }
        guard missing.isEmpty else { throw .noDirectories(missing) }
    }

    /// Checks that the files would not overwrite anything.
    ///
    /// - Throws: ``ScaffoldError/isThere(_:)`` if something exists at the path of one of the files.
    func checkThatNothingIsThere(of files: [ScaffoldedFile]) throws(ScaffoldError) {
        let present = files.map(\.path).filter(exists)
        guard present.isEmpty else { throw .isThere(present) }
    }

    /// Writes all files or none. If a file cannot be written, the files and folders already created are removed.
    ///
    /// - Throws: ``ScaffoldError/cannotBeWritten(_:_:)`` if a file cannot be written.
    func write(_ files: [ScaffoldedFile]) throws(ScaffoldError) {
        var created: [URL] = []
        for file in files {
            let address = url(of: file.path)
            let folder = address.deletingLastPathComponent()
            do {
                if !FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) {
                    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                    created.append(folder)
                }
                try Data(file.contents.utf8).write(to: address, options: .withoutOverwriting)
                created.append(address)
            } catch {
                created.reversed().forEach { try? FileManager.default.removeItem(at: $0) }
                throw .cannotBeWritten(file.path, error.localizedDescription)
            }
        }
    }

    private func url(of path: String) -> URL {
        path.hasPrefix("/") ? URL(filePath: path) : directory.appending(path: path)
    }

    private func systemPath(of path: String) -> String { url(of: path).path(percentEncoded: false) }

    private func exists(_ path: String) -> Bool {
        // Symbolic links are not followed, because even a broken link blocks its path.
        (try? FileManager.default.attributesOfItem(atPath: systemPath(of: path))) != nil
    }
}

extension String {
    /// The names of the types that this Swift source declares at file level.
    var declaredTypes: [String] {
        let declaration = /^(?:[@\w()]+ +)*(?:struct|class|enum|actor|protocol|typealias|macro) +(\w+)/
            .anchorsMatchLineEndings()
        return matches(of: declaration).map { String($0.1) }
    }
}
