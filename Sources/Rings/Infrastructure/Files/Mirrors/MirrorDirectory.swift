public import Foundation
import InterfaceAdapters
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories
import InwardTransfers
import Synchronization
public import UseCases

/// Keeps a mirror in a directory, as `FileDataFetcher` serves it: `users.json`, `posts.json`, `avatars/7.jpg`.
///
/// A new mirror is put together in a directory beside it, `.NAME.inward-mirror`, and changes places with the one there is by one step
/// of the file system. So the directory has all of the one or all of the other, whenever the process is killed or the power is lost.
/// What was put together by then serves the next run. Where the file system cannot exchange two directories, the old one is moved
/// away first: a process killed in between leaves none, until the next run puts it back.
///
/// The list `.inward-mirror` in the directory says that it is a mirror, and what belongs to it. A directory with anything else in it
/// is refused, and nothing in it is touched. So is one that belongs to another user, or that others can write, and a directory beside
/// it that an interrupted mirror did not leave. No symbolic link is followed in any of them.
public struct MirrorDirectory: MirrorStore {
    private let places: MirrorPlaces
    private let listByteLimit: Int

    /// Makes a store in a directory, which need not be there.
    ///
    /// - Parameters:
    ///   - directory: The address of the directory in the file system. If it is a symbolic link, that of what it points to.
    ///   - listByteLimit: The most bytes of a list of users or posts that is read from the mirror.
    public init(directory: URL, listByteLimit: Int = 64 * 1_024 * 1_024) {
        self.init(MirrorPlaces(directory: directory), listByteLimit: listByteLimit)
    }

    /// Makes a store in a place, such as one of a file system that cannot exchange two directories.
    init(_ places: MirrorPlaces, listByteLimit: Int = 64 * 1_024 * 1_024) {
        self.places = places
        self.listByteLimit = listByteLimit
    }

    /// Makes the directory beside it, or finds what an earlier run left there.
    ///
    /// - Throws: a `MirrorStoreError` if the directory holds other files, another process is making a mirror there, or it cannot be
    ///   written.
    public func openStaging() async throws(MirrorStoreError) -> any MirrorStaging {
        let work = FileWork()
        return try await work.run { [places, listByteLimit] () throws(MirrorStoreError) in
            try MirrorDirectoryStaging(places, listByteLimit: listByteLimit, work: work)
        }
    }
}

/// A mirror that is being made in a directory beside the one there is.
final class MirrorDirectoryStaging: MirrorStaging {
    private struct State {
        /// What is whole here.
        var list: MirrorList
        /// The end of the file that says so.
        var end: Int
    }

    private let workspace: MirrorWorkspace
    private let work: FileWork
    private let state: Mutex<State>
    private let upstream: Upstream

    /// Opens the directories, and reads what an earlier run left there.
    init(_ places: MirrorPlaces, listByteLimit: Int, work: FileWork) throws(MirrorStoreError) {
        let workspace = try MirrorWorkspace(places)
        self.workspace = workspace
        self.work = work
        let (list, end) = try places.translated { () throws(RecordStoreError) in
            let list = try workspace.readNotes()
            // A line that is not whole is not gone on with.
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
            // Where the file system has no second names. What cannot be copied is loaded from its source.
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
                throw workspace.places.failure("cannot be finished: there is no \(item.fileName) to be in it.")
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

    /// Whether a file is unchanged since it was found complete, and no other user can change it.
    private func isWhole(_ path: String, in directory: DirectoryHandle, _ copy: MirroredCopy) async -> Bool {
        guard await work.run({ (try? directory.status(at: path)?.isTrustedFile) == true }) else { return false }
        let checksum = try? await loader(of: path, in: directory).checksum()
        return checksum.map { $0 == (copy.checksum, copy.byteCount) } ?? false
    }
}
