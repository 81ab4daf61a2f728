import Foundation
import InterfaceAdapters
import Synchronization
import UseCases

/// A mirror that is being made in a directory beside the one there is.
final class MirrorDirectoryStaging: MirrorStaging {
    private struct State {
        /// What is whole here.
        var list: MirrorList
        /// The end of the file that says so.
        var end: Int
    }

    private let places: MirrorPlaces
    private let work: FileWork
    private let lock: RecordFile
    private let note: RecordFile
    private let state: Mutex<State>
    /// What is in the mirror there is.
    private let published: MirrorList
    private let upstream: Upstream

    /// Makes the directory, or finds what an earlier run left there. Nobody else does meanwhile.
    init(_ places: MirrorPlaces, work: FileWork) throws(MirrorStoreError) {
        self.places = places
        self.work = work
        lock = try places.lock()
        try places.prepare()
        published = MirrorList(of: places.directory.appending(path: MirrorPlaces.list)) ?? MirrorList()
        let staging = places.staging
        let list = MirrorList(of: staging.appending(path: "list")) ?? MirrorList()
        note = try places.translated { () throws(RecordStoreError) in
            try RecordDirectory(url: staging) { _ in nil }.open("list", O_RDWR | O_CREAT)
        }
        let file = note
        // A line that is not whole is not gone on with.
        let bytes = list.bytes
        try places.translated { () throws(RecordStoreError) in
            try file.truncate(to: 0)
            try file.write(bytes, at: 0)
        }
        state = Mutex(State(list: list, end: bytes.count))
        do {
            upstream = Upstream(baseURL: places.copy, dataFetcher: try FileDataFetcher(directory: places.copy))
        } catch {
            throw places.failure("cannot be kept: \(error).")
        }
    }

    var users: any UserRepository { UpstreamUserRepository(upstream: upstream) }
    var posts: any PostRepository { UpstreamPostRepository(upstream: upstream) }

    func copy(of item: MirroredItem) async throws(MirrorStoreError) -> MirroredCopy? {
        let name = item.fileName
        let staged = places.copy.appending(path: name)
        if let copy = state.withLock({ $0.list.copies[name] }), await isWhole(staged, copy) { return copy }
        let original = places.directory.appending(path: name)
        guard let copy = published.copies[name], await isWhole(original, copy) else { return nil }
        let hasIt = await work.run { () -> Bool in
            try? FileManager.default.createDirectory(
                at: staged.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try? FileManager.default.removeItem(at: staged)
            // A second name for the same file, where the file system has that. Neither is written into, only replaced.
            if (try? FileManager.default.linkItem(at: original, to: staged)) != nil { return true }
            return (try? FileManager.default.copyItem(at: original, to: staged)) != nil
        }
        guard hasIt, await isWhole(staged, copy) else { return nil }
        try await keep(copy, of: item)
        return copy
    }

    func saver(of item: MirroredItem) -> any DataSaver {
        FileDataSaver(file: places.copy.appending(path: item.fileName))
    }

    func keep(_ copy: MirroredCopy, of item: MirroredItem) async throws(MirrorStoreError) {
        let line = MirrorList.line(item.fileName, copy)
        let offset = state.withLock { state in
            defer { state.end += line.count }
            state.list.set(copy, for: item.fileName)
            return state.end
        }
        let (places, note) = (places, note)
        try await work.run { () throws(MirrorStoreError) in
            try places.translated { () throws(RecordStoreError) in try note.write(line, at: offset) }
        }
    }

    func keepOnly(_ items: [MirroredItem]) async throws(MirrorStoreError) {
        let names = items.map(\.fileName) + [MirrorPlaces.list]
        let files = Set(names + names.flatMap(PartialFiles.names))
        try await work.run { [places] () throws(MirrorStoreError) in try places.keepOnly(files) }
    }

    func publish(_ items: [MirroredItem]) async throws(MirrorStoreError) {
        var list = MirrorList()
        for item in items {
            guard let copy = state.withLock({ $0.list.copies[item.fileName] }) else {
                throw places.failure("cannot be finished: there is no \(item.fileName) to be in it.")
            }
            list.set(copy, for: item.fileName)
        }
        do {
            try await FileDataSaver(file: places.copy.appending(path: MirrorPlaces.list)).save(list.bytes)
        } catch {
            throw places.failure("cannot be finished: \(error).")
        }
        let names = Set(list.copies.keys).union([MirrorPlaces.list])
        try await work.run { [places] () throws(MirrorStoreError) in
            try places.keepOnly(names)
            try places.flush(names)
            try places.exchange()
            places.remove()
        }
    }

    /// Whether a file is what it was when it was found whole.
    private func isWhole(_ file: URL, _ copy: MirroredCopy) async -> Bool {
        let checksum = try? await FileDataLoader(file: file).checksum()
        return checksum.map { $0 == (copy.checksum, copy.byteCount) } ?? false
    }
}
