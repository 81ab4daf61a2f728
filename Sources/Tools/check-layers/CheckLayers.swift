import Foundation
import LayerContract

/// Checks the layers of a package as it is told to.
struct CheckLayers {
    /// Where the report goes, unless it goes to a file.
    let output: (String) throws -> Void
    /// Where everything else goes.
    let errors: (String) -> Void
    /// How a package is described.
    var describe = { (package: SwiftPackage) async throws -> PackageDescription in try await package.description() }

    /// Does what the arguments ask for.
    func run(_ words: some Sequence<String>) async -> ExitCode {
        do {
            let arguments = try Arguments(words)
            if arguments.asksForHelp {
                try output(Arguments.usage)
                return .success
            }
            return try await run(arguments)
        } catch let error as UsageError {
            errors("check-layers: \(error.explanation)\n\n\(Arguments.usage)")
        } catch let error as CheckFailure {
            errors("check-layers: \(error.explanation)\n")
        } catch {
            errors("check-layers: \(error)\n")
        }
        return .failure
    }

    private func run(_ arguments: Arguments) async throws -> ExitCode {
        let clock = ContinuousClock()
        let start = clock.now
        let directory = arguments.packagePath ?? FileManager.default.currentDirectoryPath
        let package = try await describe(SwiftPackage(directory: directory, scratchPath: arguments.scratchPath))
        let described = clock.now
        let check = PackageCheck(package: package, arguments: arguments)
        let sources = try await SourceReader(package).facts()
        if arguments.writes {
            try output(check.draw(sources))
            return .success
        }
        let report = try check.report(on: sources)
        if let file = arguments.recordedBaseline {
            try output(check.record(report, in: file))
            return .success
        }
        let text = try report.formatted(as: arguments.format)
        if let file = arguments.output { try check.write(text, to: file) } else { try output(text) }
        errors(
            "SwiftPM described the package in \(Self.spoken(described - start)), the check took "
                + "\(Self.spoken(clock.now - described)).\n"
        )
        return report.findings.isEmpty ? .success : .findings
    }

    private static func spoken(_ duration: Duration) -> String {
        duration.formatted(.units(allowed: [.seconds, .milliseconds], width: .narrow))
    }
}

/// Holds a package to the diagram of its layers: `check-layers [OPTIONS]`.
@main
struct Main {
    static func main() async {
        let command = CheckLayers(
            output: { text in try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) },
            // What cannot be said there cannot be said anywhere.
            errors: { text in try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
        )
        exit(await command.run(CommandLine.arguments.dropFirst()).rawValue)
    }
}
