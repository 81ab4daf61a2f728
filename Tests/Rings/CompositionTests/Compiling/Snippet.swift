import Foundation
import TestSupport

/// A piece of source that is compiled, and not run, against the modules that these tests are built with.
struct Snippet {
    let source: String

    /// Whether the modules can be found by their folder alone: those of packages and libraries that a trait brings
    /// cannot.
    static var canBeCompiled: Bool {
        #if AsyncHTTPClient || Vips
        false
        #else
        true
        #endif
    }

    /// What the compiler has against the source, its errors alone, each as a line.
    func errors() async throws -> [String] {
        // On a thread of its own, because a process is waited for by blocking, which the threads of tasks are not for. The
        // continuation is resumed once, by that thread.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try compile() }) }
        }
    }

    private func compile() throws -> [String] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: "main.swift")
        try Data(source.utf8).write(to: file)
        let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm",
            "-I", products.appending(path: "Modules").path(percentEncoded: false),
            "-module-cache-path", products.appending(path: "ModuleCache").path(percentEncoded: false),
            file.path(percentEncoded: false),
        ]
        // A file, because the end of a pipe also waits for whatever else is started meanwhile and inherits it.
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
