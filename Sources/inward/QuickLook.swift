import Composition
import Infrastructure
import InterfaceAdapters

/// The command: from arguments to printed lines and an exit status.
struct QuickLook {
    let standardOutput: StandardOutput
    let standardError: StandardError

    /// Does what the arguments behind the program's name say.
    func run(_ arguments: some Sequence<String>) async -> ExitCode {
        let options: Arguments
        do {
            options = try Arguments(arguments)
        } catch {
            return refuse(error.explanation)
        }
        if options.asksForHelp { return print(Arguments.usage) }
        do {
            return await show(try AppContainer(AppConfiguration(upstream: options.upstream)), output: options.output)
        } catch {
            return refuse(error.description)
        }
    }

    private func show(_ container: AppContainer, output: String?) async -> ExitCode {
        standardError.showProgress("Asking \(container.upstreamName) for users and posts …")
        let overview: OverviewViewModel
        do {
            overview = try await container.overview()
        } catch {
            return fail(error.line)
        }
        standardError.clearProgress()
        guard print(TextRenderer().render(overview.document)) == .success else { return .failure }
        guard let output else { return .success }
        do {
            try container.outputDirectory(at: output).write(try overview.renderedFiles())
        } catch {
            return fail("\(error)")
        }
        standardError.writeLine("Wrote index.html and index.json into \(output).")
        return .success
    }

    private func print(_ text: String) -> ExitCode {
        do {
            try standardOutput.print(text)
            return .success
        } catch {
            return fail(error.description)
        }
    }

    private func fail(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        return .failure
    }

    private func refuse(_ explanation: String) -> ExitCode {
        standardError.writeLine("inward: \(explanation)")
        for line in Arguments.usage.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            standardError.writeLine(String(line))
        }
        return .usage
    }
}
