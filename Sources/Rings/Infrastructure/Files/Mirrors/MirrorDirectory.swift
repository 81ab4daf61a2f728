public import Foundation
import InterfaceAdapters
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories
import InwardTransfers
import Synchronization
public import UseCases

/// A mirror store in a directory that ``FileDataFetcher`` can serve: `users.json`, `posts.json`, `avatars/7.jpg`.
///
/// ```swift
/// func mirror(_ upstream: Upstream) async throws -> MirrorReport {
///     let store = MirrorDirectory(directory: URL(filePath: "mirror", directoryHint: .isDirectory))
///     return try await CreateMirror(from: RepositoryMirrorSource(upstream: upstream), in: store)()
/// }
/// ```
///
/// A new mirror is assembled in a staging directory, `.NAME.inward-mirror` in the same parent directory, and then exchanged
/// with the existing one in one file system operation. Even if the process is killed or the power fails, the directory contains
/// either the old mirror or the new one, never a mixture. The next run reuses what an interrupted run has assembled.
///
/// Some file systems cannot exchange directories. There, the old mirror is moved away before the new one takes its place. If
/// the process is killed in between, there is no mirror until the next run restores the old one.
///
/// The file `.inward-mirror` marks the directory as a mirror and lists its files. A directory is rejected, and nothing in it is
/// changed, if it contains anything else, belongs to another user, or is writable by others. The same applies to a staging
/// directory that was not left by an interrupted run. Symbolic links in these directories are not followed.
public struct MirrorDirectory: MirrorStore {
    private let places: MirrorPlaces
    private let listByteLimit: Int

    /// Creates a store in a directory, which does not have to exist.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory. If it is a symbolic link, its target is used.
    ///   - listByteLimit: The maximum size of a list of users or posts that is read from the mirror, in bytes.
    public init(directory: URL, listByteLimit: Int = 64 * 1_024 * 1_024) {
        self.init(MirrorPlaces(directory: directory), listByteLimit: listByteLimit)
    }

    /// Creates a store with these places, for example to simulate a file system that cannot exchange directories.
    init(_ places: MirrorPlaces, listByteLimit: Int = 64 * 1_024 * 1_024) {
        self.places = places
        self.listByteLimit = listByteLimit
    }

    /// Opens the staging directory, with the files that an interrupted run left there.
    ///
    /// - Throws: A `MirrorStoreError` if the directory contains other files, if another process is creating a mirror there, or
    ///   if it cannot be written.
    public func openStaging() async throws(MirrorStoreError) -> any MirrorStaging {
        let work = FileWork()
        return try await work.run { [places, listByteLimit] () throws(MirrorStoreError) in
            try MirrorDirectoryStaging(places, listByteLimit: listByteLimit, work: work)
        }
    }
}

/// A new mirror in the staging directory next to the existing one.
final class MirrorDirectoryStaging: MirrorStaging {
    private struct State {
        /// The complete files of the new mirror.
        var list: MirrorList
        /// The offset in the list's file at which the next line is written.
        var end: Int
    }

    private let workspace: MirrorWorkspace
    private let work: FileWork
    private let state: Mutex<State>
    private let upstream: Upstream

    /// Opens the directories, and reads the list that an interrupted run left there.
    init(_ places: MirrorPlaces, listByteLimit: Int, work: FileWork) throws(MirrorStoreError) {
        let workspace = try MirrorWorkspace(places)
        self.workspace = workspace
        self.work = work
        let (list, end) = try places.translated { () throws(RecordStoreError) in
            let list = try workspace.readNotes()
            // Rewrites the file, so that no line is appended to an incomplete one.
            let bytes = list.bytes
            try workspace.notes.truncate(to: 0)
            try workspace.notes.write(bytes, at: 0)
            return (list, bytes.count)
        }
        state = Mutex(State(list: list, end: end))
        let copy = URL(filePath: workspace.copy.path, directoryHint: .isDirectory)
        let tree = DirectoryTree(root: workspace.copy.handle)
        upstream = Upstream(baseURL: copy, dataFetcher: FileDataFetcher(tree, servedAs: copy, bodyLimit: listByteLimit))
    }

    var users: any UserRepository { UpstreamUserRepository(upstream: upstream) }
    var posts: any PostRepository { UpstreamPostRepository(upstream: upstream) }

    func copy(of item: MirroredItem) async throws(MirrorStoreError) -> MirroredCopy? {
        let name = item.fileName
        if let copy = state.withLock({ $0.list.copies[name] }), await isWhole(name, in: workspace.copy, copy) {
            return copy
        }
        guard let published = workspace.published, let copy = workspace.publishedList?.copies[name],
            await isWhole(name, in: published, copy)
        else { return nil }
        workspace.places.reach(.saving)
        let isLinked = await work.run { [workspace] in workspace.linkPublished(name) }
        if !isLinked {
            // The file system does not support hard links. If copying fails too, the item is loaded from its source.
            _ = try? await TransferData(from: loader(of: name, in: published), to: saver(of: item))()
        }
        guard await isWhole(name, in: workspace.copy, copy) else { return nil }
        try await keep(copy, of: item)
        return copy
    }

    func saver(of item: MirroredItem) -> any DataSaver {
        workspace.places.reach(.saving)
        return saver(at: item.fileName)
    }

    private func saver(at path: String) -> FileDataSaver { FileDataSaver(FileTarget(path, in: workspace.copy)) }

    private func loader(of path: String, in directory: DirectoryHandle) -> FileDataLoader {
        FileDataLoader(
            path.split(separator: "/").map(String.init),
            in: DirectoryTree(root: directory.handle),
            file: URL(filePath: directory.path(of: path))
        )
    }

    func keep(_ copy: MirroredCopy, of item: MirroredItem) async throws(MirrorStoreError) {
        let line = MirrorList.line(item.fileName, copy)
        let offset = state.withLock { state in
            defer { state.end += line.count }
            state.list.set(copy, for: item.fileName)
            return state.end
        }
        try await work.run { [workspace] () throws(MirrorStoreError) in
            try workspace.places.translated { () throws(RecordStoreError) in
                try workspace.notes.write(line, at: offset)
            }
        }
    }

    func keepOnly(_ items: [MirroredItem]) async throws(MirrorStoreError) {
        let names = items.map(\.fileName) + [MirrorPlaces.list]
        let files = Set(names + names.flatMap(PartialFiles.names))
        try await removeAll(but: files)
    }

    private func removeAll(but files: Set<String>) async throws(MirrorStoreError) {
        try await work.run { [workspace] () throws(MirrorStoreError) in
            try workspace.places.translated { () throws(RecordStoreError) in
                try MirrorContents(directory: workspace.copy).removeFiles { !files.contains($0) }
            }
        }
    }

    func publish(_ items: [MirroredItem]) async throws(MirrorStoreError) {
        var list = MirrorList()
        for item in items {
            guard let copy = state.withLock({ $0.list.copies[item.fileName] }) else {
                throw workspace.places.failure("cannot be finished: \(item.fileName) was not copied.")
            }
            list.set(copy, for: item.fileName)
        }
        workspace.places.reach(.listing)
        do {
            try await saver(at: MirrorPlaces.list).save(list.bytes)
        } catch {
            throw workspace.places.failure("cannot be finished: \(error).")
        }
        try await removeAll(but: Set(list.copies.keys).union([MirrorPlaces.list]))
        try await work.run { [workspace] () throws(MirrorStoreError) in try workspace.publish() }
    }

    /// Unlocks the directories. The queue may keep a closure, and with it the workspace, a moment longer than its caller waits.
    func leave() async { workspace.unlock() }

    /// Returns whether a file is unchanged since it was recorded as complete, and no other user can change it.
    private func isWhole(_ path: String, in directory: DirectoryHandle, _ copy: MirroredCopy) async -> Bool {
        guard await work.run({ (try? directory.status(at: path)?.isTrustedFile) == true }) else { return false }
        let checksum = try? await loader(of: path, in: directory).checksum()
        return checksum.map { $0 == (copy.checksum, copy.byteCount) } ?? false
    }
}
