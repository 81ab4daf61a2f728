import Foundation
import InwardCommandLine

/// The command. It parses its arguments, writes the files, prints their paths and the next steps, and returns an exit status.
struct Scaffold {
    let printOutput: (String) -> Void
    let printError: (String) -> Void

    /// Runs the command with the arguments after the program's name.
    func run(_ arguments: [String]) -> ExitCode {
        do {
            let options = try Arguments(arguments)
            guard !options.asksForHelp else {
                printOutput(String(Arguments.usage.dropLast()))
                return .success
            }
            guard let name = options.name else { throw UsageError("the name of the subject is missing") }
            guard let list = options.targetList else {
                throw UsageError(
                    "the list of targets is missing: run “swift package scaffold-subject”, which passes it"
                )
            }
            let subject = try Subject(SubjectName(name, plural: options.plural), options, targetsListedAt: list)
            try subject.write()
            subject.files.forEach { printOutput($0.path) }
            printOutput(subject.nextSteps)
            return .success
        } catch let error as UsageError {
            printError("scaffold-subject: \(error.explanation)")
            printError(String(Arguments.usage.dropLast()))
            return .usage
        } catch {
            printError("scaffold-subject: \(error)")
            return .failure
        }
    }
}

/// A new subject and the package that it is written to.
private struct Subject {
    let name: SubjectName
    let files: [ScaffoldedFile]
    private let package: PackageDirectory
    private let templates: FileTemplate.Variants
    private let targets: [PackageTarget]

    init(_ name: SubjectName, _ options: Arguments, targetsListedAt list: String) throws(ScaffoldError) {
        self.name = name
        package = try PackageDirectory(path: options.packagePath ?? ".")
        targets = try PackageTarget.all(inFileAt: list)
        let places = try SubjectTargets(names: options.targets, diagram: package.diagram, among: targets)
        templates = FileTemplate.Variants(
            adapterTypes: Set(package.declaredTypes(in: places[.sources(.adapters)]).keys),
            compositionTypes: Set(package.declaredTypes(in: places[.sources(.composition)]).keys)
        )
        files = FileTemplate.files(of: name, templates, in: places)
    }

    /// Writes all files or none.
    func write() throws(ScaffoldError) {
        try package.checkThatNothingIsThere(of: files)
        try package.checkDirectories(of: files.reduce(into: []) { if !$0.contains($1.target) { $0.append($1.target) } })
        try checkNames()
        try checkDependencies()
        try package.write(files)
    }

    /// Checks that the files do not declare a name that their targets or the imported modules already declare.
    private func checkNames() throws(ScaffoldError) {
        let names = Set(files.flatMap(\.contents.declaredTypes))
        let seen = Set(files.flatMap { $0.importedModules + [$0.target.moduleName] })
        for target in targets {
            guard !names.contains(target.moduleName) else {
                throw .nameIsTaken("\(target.moduleName) is the name of a module")
            }
            guard seen.contains(target.moduleName) else { continue }
            let taken = package.declaredTypes(in: target).filter { names.contains($0.key) }
            if let (name, path) = taken.min(by: { $0.key < $1.key }) {
                throw .nameIsTaken("The name \(name) is taken by a type in \(path)")
            }
        }
    }

    private func checkDependencies() throws(ScaffoldError) {
        let system: Set = ["Foundation", "FoundationEssentials", "Synchronization", "Testing"]
        var missing: [String: Set<String>] = [:]
        for file in files {
            let modules = Set(file.importedModules).subtracting(system).subtracting(file.target.dependencies)
            missing[file.target.name, default: []].formUnion(modules)
        }
        let lines = missing.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        guard lines.isEmpty else {
            throw .noDependencies(lines.map { "\($0.key) → \($0.value.sorted().joined(separator: ", "))" })
        }
    }

    /// The instructions to print after the files are written.
    var nextSteps: String {
        let filter = name.plural.contains(name.singular) ? name.singular : "'\(name.singular)|\(name.plural)'"
        let (app, session) =
            templates.hasAppContainers ? ("AppContainer", "UserContainer") : ("AppScope", "SessionScope")
        return """

            Next: swift test --filter \(filter)
            Then give \(name.singular) its real fields and rules, one ring at a time, from the inside out.
            Add AnyEndpoint(.\(name.lowerPlural)) to the endpoints of the \(app), and create a \(name.plural)Container in a \(session).
            The upstream must serve the list at “\(name.lowerPlural)”. To change the path, edit Upstream\(name.singular)Repository.swift.
            """
    }
}

/// The entry point of `scaffold-subject NAME [--plural NAMES] [--target ROLE=NAME]...`, which writes a subject for all rings.
@main
struct ScaffoldSubject {
    static func main() {
        let scaffold = Scaffold(
            printOutput: { print($0) },
            printError: { text in
                // Continue even if standard error is closed.
                try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
            }
        )
        exit(scaffold.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
