package import Foundation
package import InwardRecordDirectories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The status of a file or directory: its kind, owner and permissions.
package struct FileStatus: Sendable {
    /// The kind of a file-system item.
    package enum Kind: Sendable {
        case file
        case directory
        case link
        case other
    }

    /// The kind of the item.
    package let kind: Kind
    /// The identity of the item, independent of its name.
    package let identity: RecordFile.Identity
    private let owner: uid_t
    private let mode: mode_t
    private let linkCount: Int

    package init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        identity = RecordFile.Identity(status)
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        linkCount = Int(status.st_nlink)
    }

    /// Whether the item is a regular file that only this user can write to. Once checked, its content can be relied on.
    package var isTrustedFile: Bool { kind == .file && owner == geteuid() && mode & 0o022 == 0 }

    /// Whether the item is a trusted file without other hard links. Writing to it then changes nothing else.
    package var isOwnFile: Bool { isTrustedFile && linkCount == 1 }

    /// Why the contents of this directory cannot be trusted, with advice, or `nil` if they can. The text continues a sentence
    /// that begins with the directory's path, and may contain further sentences.
    package var trustProblem: String? {
        guard kind == .directory else { return "is not a directory. Move it away, or use another directory." }
        guard owner == geteuid() else {
            return """
                belongs to another user (\(owner)), who could change its contents. Use a directory of the user that runs this \
                program (\(geteuid())), or change the owner with `chown`.
                """
        }
        guard mode & 0o022 == 0 else {
            return """
                can be written to by other users (its mode is \(String(mode, radix: 8))), who could change its contents. Remove \
                their permission with `chmod go-w`.
                """
        }
        return nil
    }
}
