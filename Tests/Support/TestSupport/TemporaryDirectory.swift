package import Foundation

/// A directory for one test, which is deleted when the object is released.
package final class TemporaryDirectory {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "inward-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file at a path below the directory, and creates the directories on the way. Only their owner can change them,
    /// regardless of the user's `umask`.
    package func write(_ contents: String, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contents.utf8).write(to: file)
        var entry = file
        for permissions in [0o644] + path.split(separator: "/").dropFirst().map({ _ in 0o755 }) {
            let path = entry.path(percentEncoded: false)
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
            entry.deleteLastPathComponent()
        }
    }

    package func link(_ path: String, to target: String) throws {
        let link = url.appending(path: path).path(percentEncoded: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    }

    package func contents(of path: String) throws -> String {
        try String(contentsOf: url.appending(path: path), encoding: .utf8)
    }
}
