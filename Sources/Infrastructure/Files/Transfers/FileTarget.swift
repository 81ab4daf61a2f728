import Foundation
import InterfaceAdapters

/// A file that is to be saved, and the directory that it is in.
struct FileTarget: Sendable {
    /// The address of the file, for messages.
    let url: URL
    /// Opens the directory, and makes it if it does not exist.
    let openDirectory: @Sendable () throws(RecordStoreError) -> DirectoryHandle

    /// Names a file by how its directory is opened.
    init(url: URL, _ openDirectory: @escaping @Sendable () throws(RecordStoreError) -> DirectoryHandle) {
        self.url = url
        self.openDirectory = openDirectory
    }

    /// Names a file by its address.
    init(_ file: URL) {
        let url = file.absoluteURL.standardizedFileURL
        self.init(url: url) { () throws(RecordStoreError) in
            let directory = RecordDirectory(url: url.deletingLastPathComponent()) { _ in nil }
            try directory.make(permissions: 0o777)
            return try DirectoryHandle(path: directory.url.path(percentEncoded: false))
        }
    }
}
