import InwardFileStores
import InwardRepositories

/// The files of a mirror in an open directory, and the directories that they are in.
struct MirrorContents {
    /// A file or directory.
    private struct Entry {
        let directory: DirectoryHandle
        let name: String
        /// Where it is in the mirror.
        let path: String
        let status: FileStatus
    }

    let directory: DirectoryHandle

    /// Looks for anything but files of a mirror and directories of such files.
    ///
    /// - Parameter isKnown: Whether a path is that of a file of the mirror, or with a slash at its end that of a directory.
    /// - Returns: the path of the first one; `nil` if all are known.
    /// - Throws: a `RecordStoreError` if a directory cannot be read.
    func foreignPath(_ isKnown: (String) -> Bool) throws(RecordStoreError) -> String? {
        try entries().first { entry in
            switch entry.status.kind {
            case .file: !isKnown(entry.path)
            case .directory: !isKnown("\(entry.path)/") || entry.status.trustProblem != nil
            case .link, .other: true
            }
        }?.path
    }

    /// Removes files, and the directories that are empty then.
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

    /// Waits until all names are on the disk.
    func flush() throws(RecordStoreError) {
        for entry in try entries() where entry.status.kind == .directory {
            try entry.directory.directory(entry.name).flush()
        }
        try directory.flush()
    }

    /// What is here, a directory after what is in it.
    private func entries() throws(RecordStoreError) -> [Entry] { try Self.entries(of: directory, prefix: "") }

    private static func entries(of directory: DirectoryHandle, prefix: String) throws(RecordStoreError) -> [Entry] {
        var entries: [Entry] = []
        for name in try directory.names() {
            guard let status = try directory.status(of: name) else { continue }
            let path = prefix + name
            // A mirror has no directories in directories. What else is in them is refused with them.
            if status.kind == .directory, prefix.isEmpty {
                entries += try self.entries(of: directory.directory(name), prefix: "\(path)/")
            }
            entries.append(Entry(directory: directory, name: name, path: path, status: status))
        }
        return entries
    }
}
