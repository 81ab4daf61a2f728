import Foundation

/// The package that a subject is written into.
struct PackageDirectory {
    private let directory: URL

    init(path: String) {
        directory = URL(filePath: path, directoryHint: .isDirectory)
    }

    /// - Throws: ``ScaffoldError/isThere(_:)`` if something is at the place of one of the files.
    func checkThatNothingIsThere(of files: [ScaffoldedFile]) throws(ScaffoldError) {
        guard exists("Package.swift") else { throw .noPackage(directory.path(percentEncoded: false)) }
        let present = files.map(\.path).filter(exists)
        guard present.isEmpty else { throw .isThere(present) }
    }

    /// - Throws: ``ScaffoldError/noTargets(_:)`` if a file belongs into a target that is not there.
    func checkThatTargetsAreThere(for files: [ScaffoldedFile]) throws(ScaffoldError) {
        let targets = Set(files.map { $0.path.split(separator: "/").prefix(3).joined(separator: "/") })
        let missing = targets.filter { !exists($0) }.sorted()
        guard missing.isEmpty else { throw .noTargets(missing) }
    }

    /// - Throws: ``ScaffoldError/nameIsTaken(_:)`` if a type that one of the files declares is declared already, or a
    ///   module has its name.
    func checkThatNothingIsCalled(as files: [ScaffoldedFile]) throws(ScaffoldError) {
        let names = Set(files.compactMap(\.typeName))
        let modules = contents(of: "Sources").flatMap { [$0] + contents(of: "Sources/\($0)") }
        for module in modules where names.contains(module) {
            throw .nameIsTaken("\(module) is a module of the package")
        }
        for path in swiftFiles {
            guard let name = declaredTypes(in: path).first(where: names.contains) else { continue }
            throw .nameIsTaken("there is a type \(name) in \(path)")
        }
    }

    /// Writes all files, or none: what was written is taken back when a later file cannot be.
    ///
    /// - Throws: ``ScaffoldError/cannotBeWritten(_:_:)``.
    func write(_ files: [ScaffoldedFile]) throws(ScaffoldError) {
        var written: [URL] = []
        for file in files {
            let address = directory.appending(path: file.path)
            do {
                try FileManager.default.createDirectory(
                    at: address.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(file.contents.utf8).write(to: address, options: .withoutOverwriting)
            } catch {
                written.forEach { try? FileManager.default.removeItem(at: $0) }
                throw .cannotBeWritten(file.path, error.localizedDescription)
            }
            written.append(address)
        }
    }

    private func exists(_ path: String) -> Bool {
        // Not through a symbolic link: one that leads nowhere is in the way too.
        let path = directory.appending(path: path).path(percentEncoded: false)
        return (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    private func contents(of path: String) -> [String] {
        let path = directory.appending(path: path).path(percentEncoded: false)
        return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// The Swift files of the package, but for the scaffold's own: nobody imports those, and its templates declare types
    /// that are there for nobody.
    private var swiftFiles: [String] {
        ["Sources", "Tests"].flatMap { root in
            let path = directory.appending(path: root).path(percentEncoded: false)
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
            return paths.filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Tools/scaffold-subject") }.sorted()
                .map { "\(root)/\($0)" }
        }
    }

    private func declaredTypes(in path: String) -> [String] {
        guard let text = try? String(contentsOf: directory.appending(path: path), encoding: .utf8) else { return [] }
        // At the top of the file: what is nested has its own name.
        let declaration = /^(?:[@\w()]+ +)*(?:struct|class|enum|actor|protocol|typealias|macro) +(\w+)/
            .anchorsMatchLineEndings()
        return text.matches(of: declaration).map { String($0.1) }
    }
}

/// Why a subject was not written.
enum ScaffoldError: Error, Equatable, CustomStringConvertible {
    /// There is no package in the directory of this path.
    case noPackage(String)
    /// These directories of targets are not there, and files of the subject belong into them.
    case noTargets([String])
    /// Something is at these paths, where files of the subject belong.
    case isThere([String])
    /// A name that the subject needs is taken, by what is said here.
    case nameIsTaken(String)
    /// The file at this path cannot be written, for this reason.
    case cannotBeWritten(String, String)

    /// What is wrong, as whole sentences for a person.
    var description: String {
        switch self {
        case .noPackage(let path): "There is no Package.swift in “\(path)”. Nothing was written."
        case .noTargets(let paths):
            """
            There is no target at \(paths.joined(separator: ", ")), where files of a subject belong. Make these targets first. Nothing \
            was written.
            """
        case .isThere(let paths): "There is \(paths.joined(separator: ", ")) already. Nothing was written."
        case .nameIsTaken(let explanation): "The name is taken: \(explanation). Nothing was written."
        case .cannotBeWritten(let path, let reason): "\(path) cannot be written: \(reason) Nothing was written."
        }
    }
}
