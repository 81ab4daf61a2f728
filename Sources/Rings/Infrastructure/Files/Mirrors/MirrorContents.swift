import InwardFileStores
import InwardRepositories

/// The files and subdirectories of a mirror in an open directory.
struct MirrorContents {
    /// A file or directory.
    private struct Entry {
        let directory: DirectoryHandle
        let name: String
        /// The path within the mirror.
        let path: String
        let status: FileStatus
    }

    let directory: DirectoryHandle

    /// Returns the path of the first entry that does not belong to the mirror; `nil` if all entries belong to it.
    ///
    /// - Parameter isKnown: Returns whether a file with this path belongs to the mirror; for a directory, the path ends with a
    ///   slash.
    /// - Returns: The path of the first foreign entry.
    /// - Throws: A `RecordStoreError` if a directory cannot be read.
    func foreignPath(_ isKnown: (String) -> Bool) throws(RecordStoreError) -> String? {
        try entries().first { entry in
            switch entry.status.kind {
            case .file: !isKnown(entry.path)
            case .directory: !isKnown("\(entry.path)/") || entry.status.trustProblem != nil
            case .link, .other: true
            }
        }?.path
    }

    /// Removes the files that meet a condition, and directories that are empty.
    func removeFiles(where condition: (String) -> Bool) throws(RecordStoreError) {
        for entry in try entries() {
            switch entry.status.kind {
            case .directory:
                if try entry.directory.directory(entry.name).names().isEmpty {
                    try entry.directory.removeDirectory(entry.name)
                }
            case .file, .link, .other:
                if condition(entry.path) { try entry.directory.removeFile(entry.name) }
            }
        }
    }

    /// Waits until all names have been written to disk.
    func flush() throws(RecordStoreError) {
        for entry in try entries() where entry.status.kind == .directory {
            try entry.directory.directory(entry.name).flush()
        }
        try directory.flush()
    }

    /// Returns all entries, with each directory after its contents.
    private func entries() throws(RecordStoreError) -> [Entry] { try Self.entries(of: directory, prefix: "") }

    private static func entries(of directory: DirectoryHandle, prefix: String) throws(RecordStoreError) -> [Entry] {
        var entries: [Entry] = []
        for name in try directory.names() {
            guard let status = try directory.status(of: name) else { continue }
            let path = prefix + name
            // Mirrors have only one level of directories. Deeper ones are rejected without looking into them.
            if status.kind == .directory, prefix.isEmpty {
                entries += try self.entries(of: directory.directory(name), prefix: "\(path)/")
            }
            entries.append(Entry(directory: directory, name: name, path: path, status: status))
        }
        return entries
    }
}
