import Entities
import Foundation
import InterfaceAdapters
import InwardFileStores
import InwardRepositories
import UseCases

/// What the parts of a mirror are called, and which names belong to one.
struct MirrorPlaces: Sendable {
    /// The list that says what belongs to a mirror, in the mirror itself.
    static let list = ".inward-mirror"
    /// The mirror that is being made.
    static let copy = "copy"
    /// The old mirror, while the new one takes its place where they cannot be exchanged.
    static let previous = "previous"
    /// The list of what is whole in the mirror that is being made.
    static let notes = "list"
    /// The file that a process locks while it makes a mirror.
    static let lock = "lock"

    /// What everybody sees.
    let directory: URL
    let canExchange: Bool
    /// Called at each step, for tests of what others do in between.
    let reach: @Sendable (MirrorStep) -> Void

    init(
        directory: URL,
        canExchange: Bool = true,
        reach: @escaping @Sendable (MirrorStep) -> Void = { _ in }
    ) {
        self.reach = reach
        let path = directory.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        // Without a slash at its end, which would ask for a directory.
        let isSlashed = path.count > 1 && path.hasSuffix("/")
        self.directory = URL(filePath: isSlashed ? String(path.dropLast()) : path, directoryHint: .notDirectory)
        self.canExchange = canExchange
    }

    /// The directory that the mirror is in.
    var parent: URL { directory.deletingLastPathComponent() }
    /// What the mirror is called there.
    var name: String { directory.lastPathComponent }
    /// What is around the mirror that is being made is called this there.
    var staging: String { ".\(name).inward-mirror" }

    /// Whether a mirror that is being made may have a file of this path, or a directory if the path ends with a slash.
    static func mayHave(_ path: String) -> Bool {
        let images = MirroredItem.avatar(User.ID(1)).fileName.prefix { $0 != "/" } + "/"
        if path == images { return true }
        if path.hasPrefix(images) { return !path.dropFirst(images.count).contains("/") }
        let lists = [MirroredItem.users.fileName, MirroredItem.posts.fileName, list]
        return (lists + lists.flatMap(PartialFiles.names)).contains(path)
    }

    /// Whether a mirror with a list has a file of this path, or a directory if the path ends with a slash.
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
            throw failure("cannot be kept: \(error.explanation)")
        }
    }
}

/// A step in the making of a mirror.
enum MirrorStep: CaseIterable, Sendable {
    /// The mirror there is was checked, and nothing is made yet.
    case checked
    /// The staging directory is open and locked.
    case locked
    /// The directory for the new mirror is open.
    case prepared
    /// An item is about to be saved.
    case saving
    /// All items are there, and the list is about to be saved.
    case listing
    /// Both mirrors were checked, and the new one is about to be put in its place.
    case publishing
    /// The old mirror was moved away, and the new one is about to take its place.
    case moved
    /// Both mirrors have changed places, and the old one is about to be checked once more.
    case exchanged
}
