import Foundation

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
