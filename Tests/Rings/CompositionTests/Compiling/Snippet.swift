import Foundation
import TestSupport

/// Swift source that is type-checked, and not run, against the modules that these tests are built with.
struct Snippet {
    /// The texts of the source files, which are compiled together.
    let sources: [String]
    /// Compiler options besides the ones that find the modules.
    var options: [String] = []
    /// Whether the first source may have statements at file level.
    var isScript = true

    init(source: String) { sources = [source] }

    init(files: [String], options: [String] = []) {
        (sources, self.options, isScript) = (files, options, false)
    }

    /// Whether these tests were built with the package's default traits. Other builds use modules of packages that are not in
    /// the build directory.
    static var canBeCompiled: Bool {
        #if AsyncHTTPClient || Vips
        false
        #else
        true
        #endif
    }

    /// The directory of the built products.
    static let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()

    /// Returns the compiler's errors, one line each.
    func errors() async throws -> [String] {
        // Waiting for a process blocks, so it happens on a separate thread and not on one of the task pool. The thread resumes
        // the continuation exactly once.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try compile() }) }
        }
    }

    private func compile() throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let files = try sources.enumerated().map { number, source in
            let file = directory.appending(path: isScript && number == 0 ? "main.swift" : "Snippet\(number).swift")
            try Data(source.utf8).write(to: file)
            return file.path(percentEncoded: false)
        }
        let arguments =
            [
                // As one module, so that one process loads the imported modules once.
                "swiftc", "-typecheck", "-wmo", "-module-name", "Snippets", "-swift-version", "6", "-diagnostic-style",
                "llvm",
                "-enable-upcoming-feature", "MemberImportVisibility", "-suppress-warnings",
                "-I", Self.products.appending(path: "Modules").path(percentEncoded: false),
                "-module-cache-path", Self.products.appending(path: "ModuleCache").path(percentEncoded: false),
            ] + (isScript ? [] : ["-parse-as-library"]) + options + files
        // The output goes to a file, because a pipe ends only when every process that inherited it has ended, even those of
        // other tests.
        let said = directory.appending(path: "said.txt")
        try Data().write(to: said)
        let output = try FileHandle(forWritingTo: said)
        let ending = try SpawnedProcess("/usr/bin/env", arguments, output: output, errors: output).wait()
        let text = String(decoding: try Data(contentsOf: said), as: UTF8.self)
        let errors = text.split(separator: "\n").map(String.init).filter { $0.contains("error: ") }
        guard ending == .exit(0) || !errors.isEmpty else { return ["error: \(text)"] }
        return errors
    }
}
