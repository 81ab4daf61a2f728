import Foundation

/// The command: from arguments to written files, printed lines and an exit status.
struct Scaffold {
    let printOutput: (String) -> Void
    let printError: (String) -> Void

    /// Does what the arguments behind the program's name say.
    func run(_ arguments: some Sequence<String>) -> ExitCode {
        do throws(UsageError) {
            let options = try Arguments(arguments)
            guard !options.asksForHelp else {
                printOutput(String(Arguments.usage.dropLast()))
                return .success
            }
            guard let name = options.name else { throw UsageError("a name is wanted") }
            return try write(
                SubjectName(name, plural: options.plural),
                into: PackageDirectory(path: options.packagePath ?? ".")
            )
        } catch {
            printError("scaffold-subject: \(error.explanation)")
            printError(String(Arguments.usage.dropLast()))
            return .usage
        }
    }

    private func write(_ name: SubjectName, into package: PackageDirectory) throws(UsageError) -> ExitCode {
        let files = FileTemplate.all.map { $0.file(for: name) }
        do throws(ScaffoldError) {
            try package.checkThatNothingIsThere(of: files)
            try package.checkThatTargetsAreThere(for: files)
            try package.checkThatNothingIsCalled(as: files)
            try package.write(files)
        } catch .nameIsTaken(let explanation) {
            throw UsageError(explanation)
        } catch {
            printError("scaffold-subject: \(error)")
            return .failure
        }
        files.forEach { printOutput($0.path) }
        printOutput(nextSteps(for: name))
        return .success
    }

    private func nextSteps(for name: SubjectName) -> String {
        let filter = name.plural.contains(name.singular) ? name.singular : "'\(name.singular)|\(name.plural)'"
        return """

            Next: swift test --filter \(filter), and from there one ring at a time, from the inside out:
            give \(name.singular) the fields and rules it really has, then the use cases that are wanted of it.
            The upstream is asked for a list at “\(name.lowerPlural)”; Upstream\(name.singular)Repository says so.
            """
    }
}

/// Writes a new subject through all rings: `scaffold-subject NAME [--plural NAMES] [--package-path DIRECTORY]`.
@main
struct ScaffoldSubject {
    static func main() {
        let scaffold = Scaffold(
            printOutput: { print($0) },
            printError: { text in
                // What cannot be said, because nobody listens any more, is no reason to stop.
                try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
            }
        )
        exit(scaffold.run(CommandLine.arguments.dropFirst()).rawValue)
    }
}
