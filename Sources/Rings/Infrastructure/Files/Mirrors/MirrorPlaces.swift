import Entities
import Foundation
import InterfaceAdapters
import InwardFileStores
import InwardRepositories
import UseCases

/// The names of a mirror's files and directories.
struct MirrorPlaces: Sendable {
    /// The list of the mirror's files, in the mirror itself.
    static let list = ".inward-mirror"
    /// The new mirror.
    static let copy = "copy"
    /// The old mirror while the new one takes its place, on file systems that cannot exchange directories.
    static let previous = "previous"
    /// The list of the complete files of the new mirror.
    static let notes = "list"
    /// The file that a process locks while it creates a mirror.
    static let lock = "lock"

    /// The published mirror.
    let directory: URL
    let canExchange: Bool
    /// Called at each step, so that tests can interfere in between.
    let reach: @Sendable (MirrorStep) -> Void

    init(
        directory: URL,
        canExchange: Bool = true,
        reach: @escaping @Sendable (MirrorStep) -> Void = { _ in }
    ) {
        self.reach = reach
        let path = directory.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        // Drop a trailing slash, because a path with one can only name a directory.
        let isSlashed = path.count > 1 && path.hasSuffix("/")
        self.directory = URL(filePath: isSlashed ? String(path.dropLast()) : path, directoryHint: .notDirectory)
        self.canExchange = canExchange
    }

    /// The parent directory of the mirror.
    var parent: URL { directory.deletingLastPathComponent() }
    /// The mirror's name in its parent directory.
    var name: String { directory.lastPathComponent }
    /// The name of the staging directory in the mirror's parent directory.
    var staging: String { ".\(name).inward-mirror" }

    /// Returns whether a new mirror may contain a file of this path, or a directory if the path ends with a slash.
    static func mayHave(_ path: String) -> Bool {
        let images = MirroredItem.avatar(User.ID(1)).fileName.prefix { $0 != "/" } + "/"
        if path == images { return true }
        if path.hasPrefix(images) { return !path.dropFirst(images.count).contains("/") }
        let lists = [MirroredItem.users.fileName, MirroredItem.posts.fileName, list]
        return (lists + lists.flatMap(PartialFiles.names)).contains(path)
    }

    /// Returns whether a mirror with this list contains a file of this path, or a directory if the path ends with a slash.
    static func hasFile(_ path: String, _ list: MirrorList?) -> Bool {
        guard let list else { return false }
        if path.hasSuffix("/") { return list.copies.keys.contains { $0.hasPrefix(path) } }
        return path == Self.list || list.copies[path] != nil
    }

    func failure(_ explanation: String) -> MirrorStoreError {
        MirrorStoreError(place: "“\(directory.path(percentEncoded: false))”", explanation: explanation)
    }

    func translated<Answer>(_ work: () throws(RecordStoreError) -> Answer) throws(MirrorStoreError) -> Answer {
        do {
            return try work()
        } catch {
            throw failure("cannot be written: \(error.explanation)")
        }
    }
}

/// A step of creating a mirror.
enum MirrorStep: CaseIterable, Sendable {
    /// The existing mirror was checked, and nothing has been created yet.
    case checked
    /// The staging directory is open and locked.
    case locked
    /// The directory for the new mirror is open.
    case prepared
    /// An item is about to be saved.
    case saving
    /// All items are saved, and the list is about to be saved.
    case listing
    /// Both mirrors were checked, and the new one is about to be published.
    case publishing
    /// The old mirror was moved away, and the new one is about to take its place.
    case moved
    /// The mirrors were exchanged, and the old one is about to be checked once more.
    case exchanged
}
