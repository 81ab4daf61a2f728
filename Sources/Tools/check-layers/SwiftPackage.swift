import Foundation
import LayerContract

/// The package in a directory, as reported by SwiftPM.
struct SwiftPackage {
    /// The directory in which SwiftPM looks for a manifest. SwiftPM also searches its parents.
    let directory: String
    /// The scratch path to pass to SwiftPM, or `nil` for the default. With a scratch path, SwiftPM also runs without its
    /// sandbox.
    ///
    /// A plugin needs both: while it runs, SwiftPM locks the default scratch path, and sandboxes cannot be nested.
    let scratchPath: String?

    /// Asks SwiftPM to describe the package.
    ///
    /// - Throws: A ``CheckFailure`` if SwiftPM cannot be run or cannot load the package.
    func description() async throws(CheckFailure) -> PackageDescription {
        do {
            return try await PackageDescription(
                description: output(of: ["describe", "--type", "json"]),
                manifest: output(of: ["dump-package"])
            )
        } catch let failure as CheckFailure {
            throw failure
        } catch {
            throw CheckFailure("\(error)")
        }
    }

    /// Returns the output of a SwiftPM command for the package.
    func output(of command: [String]) async throws -> Data {
        // Waiting for a process blocks its thread, so a dedicated thread is used instead of the cooperative pool. That thread
        // resumes the continuation exactly once.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(command) }) }
        }
    }

    private func run(_ command: [String]) throws -> Data {
        var arguments = ["swift", "package", "--package-path", directory]
        if let scratchPath { arguments += ["--disable-sandbox", "--scratch-path", scratchPath] }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments + command
        let files = FileManager.default.temporaryDirectory.appending(path: "check-layers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: files) }
        // Uses files, because a process that fills a pipe blocks until the pipe is read.
        let output = try Self.emptyFile(files.appending(path: "output"))
        let errors = try Self.emptyFile(files.appending(path: "errors"))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CheckFailure(
                "“swift package \(command.joined(separator: " "))” failed for \(directory): \(try Self.reason(errors))"
            )
        }
        return Self.answer(in: try Self.contents(output))
    }

    /// Returns the JSON in SwiftPM's output, without other messages, such as one about waiting for another SwiftPM process.
    static func answer(in printed: Data) -> Data {
        let lines = printed.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0.first == UInt8(ascii: "{") }),
            let last = lines.lastIndex(where: { $0.last == UInt8(ascii: "}") }), first <= last
        else { return printed }
        return Data(lines[first...last].joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func emptyFile(_ url: URL) throws -> FileHandle {
        try Data().write(to: url)
        return try FileHandle(forUpdating: url)
    }

    private static func contents(_ file: FileHandle) throws -> Data {
        try file.seek(toOffset: 0)
        return try file.readToEnd() ?? Data()
    }

    /// Returns SwiftPM's error messages without its progress output, or its last lines if there are no errors.
    private static func reason(_ file: FileHandle) throws -> String {
        let lines = String(decoding: try contents(file), as: UTF8.self).split(separator: "\n")
        let errors = lines.filter { $0.contains("error:") }
        let reason = (errors.isEmpty ? lines.suffix(3) : errors.prefix(3)[...]).joined(separator: " ")
        return reason.isEmpty ? "SwiftPM gave no reason. Does the directory contain a package?" : reason
    }
}
