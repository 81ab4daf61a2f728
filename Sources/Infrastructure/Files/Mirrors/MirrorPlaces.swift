import Foundation
import InterfaceAdapters
import UseCases

/// Where the parts of a mirror are, and what is done to their names.
struct MirrorPlaces: Sendable {
    /// The name of the list that says what belongs to a mirror, in the mirror itself.
    static let list = ".inward-mirror"

    /// What everybody sees.
    let directory: URL
    /// What is around the mirror that is being made.
    let staging: URL
    private let canExchange: Bool

    init(directory: URL, canExchange: Bool) {
        let path = directory.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        // Without a slash at its end, which would ask for a directory.
        let isSlashed = path.count > 1 && path.hasSuffix("/")
        let directory = URL(filePath: isSlashed ? String(path.dropLast()) : path, directoryHint: .notDirectory)
        self.directory = directory
        self.canExchange = canExchange
        staging = directory.deletingLastPathComponent()
            .appending(path: ".\(directory.lastPathComponent).inward-mirror", directoryHint: .isDirectory)
    }

    /// The mirror that is being made.
    var copy: URL { staging.appending(path: "copy", directoryHint: .isDirectory) }
    /// Where the old mirror is while the new one takes its place, where they cannot be exchanged.
    private var previous: URL { staging.appending(path: "previous", directoryHint: .isDirectory) }

    /// Makes the directory for the mirror that is being made, and keeps everybody else from it as long as the file is open.
    func lock() throws(MirrorStoreError) -> RecordFile {
        try checkIsMirror()
        let places = RecordDirectory(url: staging) { _ in nil }
        while true {
            let file = try translated { () throws(RecordStoreError) in
                try places.make(permissions: 0o777)
                // Not through a symbolic link, which somebody else may have put there.
                let path = directory.deletingLastPathComponent().appending(path: staging.lastPathComponent)
                _ = try RecordFile("", path: path.path(percentEncoded: false), flags: O_RDONLY | O_DIRECTORY) { _ in nil
                }
                return try places.open(RecordDirectory.lock, O_RDWR | O_CREAT)
            }
            let (isLocked, isThere) = try translated { () throws(RecordStoreError) in
                let identity = try file.status().identity
                return (try file.lockAtOnce(), places.status(of: RecordDirectory.lock)?.identity == identity)
            }
            guard isLocked else { throw failure("is being mirrored into by somebody else. Wait until that is done.") }
            // Who had it locked before may have taken it away.
            if isThere { return file }
        }
    }

    /// Puts back what was moved away by a process that was killed then, and makes what is missing.
    func prepare() throws(MirrorStoreError) {
        if exists(previous) {
            if !exists(directory) { try move(previous, to: directory) }
            try? FileManager.default.removeItem(at: previous)
        }
        try translated { () throws(RecordStoreError) in
            try RecordDirectory(url: copy) { _ in nil }.make(permissions: 0o777)
        }
    }

    /// Refuses a directory that holds anything but a mirror.
    func checkIsMirror() throws(MirrorStoreError) {
        guard directory.pathComponents.count > 1 else {
            throw failure("is no place for a mirror. Name another directory.")
        }
        var isDirectory: ObjCBool = false
        let path = directory.path(percentEncoded: false)
        // `unsafe`: the call writes one truth value, which is where it is told to write.
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        guard isDirectory.boolValue else { throw failure("is no directory. Name another, or move it away.") }
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: path) else {
            throw failure("cannot be read. Let the user that this program runs as read it, or name another directory.")
        }
        var known: Set<String> = []
        if let list = MirrorList(of: directory.appending(path: Self.list)) {
            known = Set(list.copies.keys).union([Self.list])
            known.formUnion(known.map { String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex)) })
        }
        if let foreign = names.sorted().first(where: { !known.contains($0) }) {
            throw failure(
                """
                holds something that belongs to no mirror, “\(foreign)”. It is kept: name another directory, or move that \
                away.
                """
            )
        }
    }

    /// Takes away everything in the mirror that is being made but these files.
    func keepOnly(_ fileNames: Set<String>) throws(MirrorStoreError) {
        let path = copy.path(percentEncoded: false)
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] {
            let file = copy.appending(path: name)
            guard !fileNames.contains(name), !fileNames.contains(where: { $0.hasPrefix("\(name)/") }) else { continue }
            do {
                try FileManager.default.removeItem(at: file)
            } catch {
                // What was in a directory that is gone is gone too.
                guard exists(file) else { continue }
                throw failure("cannot be finished: \(error.localizedDescription).")
            }
        }
    }

    /// Waits until the names in the mirror that is being made are on the disk.
    func flush(_ fileNames: Set<String>) throws(MirrorStoreError) {
        let files = fileNames.map { copy.appending(path: $0).deletingLastPathComponent() }
        try translated { () throws(RecordStoreError) in
            for url in Set(files.map { $0.path(percentEncoded: false) } + [copy.path(percentEncoded: false)]) {
                try RecordDirectory(url: URL(filePath: url)) { _ in nil }.flush()
            }
        }
    }

    /// Puts the mirror that was made in the place of the one there is.
    func exchange() throws(MirrorStoreError) {
        try checkIsMirror()
        let parent = RecordDirectory(url: directory.deletingLastPathComponent()) { _ in nil }
        // An empty directory is replaced, as is none.
        if Self.renamed(copy, directory) {
            return try translated { () throws(RecordStoreError) in try parent.flush() }
        }
        if !canExchange || !DirectoryExchange.exchanged(copy, directory) {
            try move(directory, to: previous)
            do {
                try move(copy, to: directory)
            } catch {
                try move(previous, to: directory)
                throw error
            }
        }
        try translated { () throws(RecordStoreError) in try parent.flush() }
    }

    /// Takes away what is around the mirror that was made.
    func remove() {
        // What stays is taken away by the next run.
        try? FileManager.default.removeItem(at: staging)
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

    private func move(_ old: URL, to new: URL) throws(MirrorStoreError) {
        guard Self.renamed(old, new) else {
            let error = RecordStoreError(code: errno, path: new.path(percentEncoded: false), "replaced")
            throw failure("cannot be kept: \(error.explanation)")
        }
    }

    private static func renamed(_ old: URL, _ new: URL) -> Bool {
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        unsafe rename(old.path(percentEncoded: false), new.path(percentEncoded: false)) == 0
    }

    private func exists(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
    }
}
