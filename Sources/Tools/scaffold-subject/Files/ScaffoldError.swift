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
