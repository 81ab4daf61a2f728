import Foundation

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
