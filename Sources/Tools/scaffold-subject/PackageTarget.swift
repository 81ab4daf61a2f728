import Foundation

/// A Swift target that the plugin found, of the package or of a package that it depends on.
struct PackageTarget: Decodable, Equatable {
    /// The name in the manifest.
    let name: String
    /// The name that sources import it by.
    let moduleName: String
    /// Where its sources are: relative to the package, or the whole path of another package's target.
    let directory: String
    /// The names of the modules that the manifest lets it import.
    let dependencies: [String]

    /// Whether the target belongs to the package that the subject is written into.
    var isInPackage: Bool { !directory.hasPrefix("/") }

    /// Reads the targets that the plugin has written down.
    ///
    /// - Throws: ``ScaffoldError/cannotBeRead(_:_:)``.
    static func all(inFileAt path: String) throws(ScaffoldError) -> [PackageTarget] {
        do {
            return try JSONDecoder().decode([PackageTarget].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw .cannotBeRead(path, error.localizedDescription)
        }
    }
}
