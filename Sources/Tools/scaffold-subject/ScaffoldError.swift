/// The reason why a subject was not written.
enum ScaffoldError: Error, Equatable {
    /// A target that the subject's files need and the package does not have.
    struct MissingTarget: Equatable {
        let role: TargetRole
        let name: String
        let isTests: Bool
    }

    /// The directory at this path does not contain a package.
    case noPackage(String)
    /// The plugin's output at this path cannot be read, for this reason.
    case cannotBeRead(String, String)
    /// The package lacks these targets. The second value contains the names of its Swift targets.
    case noTargets([MissingTarget], among: [String])
    /// The diagram has several targets for a role.
    case severalTargets(TargetRole, [String])
    /// The directories of these targets do not exist.
    case noDirectories([PackageTarget])
    /// A target does not depend on modules that the subject's files import. Each string names a target and its modules.
    case noDependencies([String])
    /// Files of the subject would overwrite existing items at these paths.
    case isThere([String])
    /// A name that the subject needs is already taken by another declaration or module.
    case nameIsTaken(String)
    /// The file at this path cannot be written, for this reason.
    case cannotBeWritten(String, String)
}

extension ScaffoldError: CustomStringConvertible {
    /// The problem and the remedy, in sentences.
    var description: String { "\(explanation) Nothing was written." }

    private var explanation: String {
        switch self {
        case .noPackage(let path):
            "“\(path)” has no Package.swift. Run the command in a package directory."
        case .cannotBeRead(let path, let reason):
            "The list of the package's targets at “\(path)” cannot be read: \(reason) Run “swift package scaffold-subject”."
        case .noTargets(let missing, let known):
            """
            The package has no target \(missing.map(\.description).joined(separator: ", no target ")). Its Swift targets are: \
            \(known.joined(separator: ", ")). Choose among them with \(Self.options(for: missing)), or add the missing targets to \
            Package.swift, each with a source file, because SwiftPM ignores a target without one.
            """
        case .severalTargets(let role, let names):
            """
            The diagram in Architecture.md has several targets for \(role.purpose): \(names.joined(separator: ", ")). Choose one with \
            --target \(role.rawValue)=NAME.
            """
        case .noDirectories(let targets):
            "The directories of these targets do not exist: "
                + targets.map { "\($0.name) at “\($0.directory)”" }.joined(separator: ", ") + ". Create them first."
        case .noDependencies(let lines):
            """
            The subject's files import modules that their targets do not depend on. Add these dependencies to Package.swift: \
            \(lines.joined(separator: "; ")).
            """
        case .isThere(let paths):
            "These files already exist: \(paths.joined(separator: ", ")). Choose another name, or move the files."
        case .nameIsTaken(let explanation):
            "\(explanation). Choose another name."
        case .cannotBeWritten(let path, let reason):
            "\(path) cannot be written: \(reason)"
        }
    }

    /// Returns the options with which a user can name these targets, or the targets that they test.
    private static func options(for missing: [MissingTarget]) -> String {
        let roles = TargetRole.allCases.filter { role in missing.contains { $0.role == role } }
        return roles.map { "--target \($0.rawValue)=NAME" }.joined(separator: " ")
    }
}

extension ScaffoldError.MissingTarget: CustomStringConvertible {
    /// The target's name and purpose, such as `“EntitiesTests” for the tests of the entities`.
    var description: String { "“\(name)” for \(isTests ? "the tests of " : "")\(role.purpose)" }
}
