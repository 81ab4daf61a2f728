package import Foundation
import InwardRecordDirectories
import InwardRepositories

/// A file that is to be saved, and the directory that it is in.
package struct FileTarget: Sendable {
    /// The address of the file, for messages.
    package let url: URL
    /// An open directory and the path of the file below it; `nil` for a file that is named by its address alone.
    private let place: (root: DirectoryHandle, path: String)?

    /// Names a file below an open directory. No symbolic link is followed on the way there.
    package init(_ path: String, in root: DirectoryHandle) {
        url = URL(filePath: root.path(of: path))
        place = (root, path)
    }

    /// Names a file by its address.
    package init(_ file: URL) {
        url = file.absoluteURL.standardizedFileURL
        place = nil
    }

    /// Opens the directory, and makes it if it does not exist.
    func openDirectory() throws(RecordStoreError) -> DirectoryHandle {
        if let place { return try place.root.directory(of: place.path, making: 0o755) }
        let directory = RecordDirectory(url: url.deletingLastPathComponent()) { _ in nil }
        try directory.make(permissions: 0o777)
        return try DirectoryHandle(path: directory.url.path(percentEncoded: false))
    }
}
