import Foundation
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories
import UseCases

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The directories in which a mirror is created. They stay locked for this process until ``unlock()`` is called or the
/// workspace is deallocated.
///
/// Anyone who can write to these directories could make the process read, replace or remove files elsewhere. The workspace
/// therefore rejects a directory that belongs to another user, that others can write to, or that contains anything that does
/// not belong to a mirror. All operations go through open directories, and symbolic links are not followed.
struct MirrorWorkspace: Sendable {
    let places: MirrorPlaces
    /// The new mirror.
    let copy: DirectoryHandle
    /// The existing mirror; `nil` before the first one.
    let published: DirectoryHandle?
    /// The list of the existing mirror.
    let publishedList: MirrorList?
    /// The list of the complete files of the new mirror.
    let notes: RecordFile

    private let parent: DirectoryHandle
    private let staging: DirectoryHandle
    private let lock: RecordFile

    /// Opens the directories, creates missing ones, and restores a mirror that a killed process had moved away.
    init(_ places: MirrorPlaces) throws(MirrorStoreError) {
        self.places = places
        guard places.directory.pathComponents.count > 1 else {
            throw places.failure("cannot hold a mirror. Choose another directory.")
        }
        let parent = try places.translated { () throws(RecordStoreError) in
            try RecordDirectory(url: places.parent) { _ in nil }.make(permissions: 0o755)
            return try DirectoryHandle(path: places.parent.path(percentEncoded: false))
        }
        self.parent = parent
        _ = try Self.openMirror(in: parent, places)
        places.reach(.checked)
        (staging, lock) = try Self.lockedStaging(in: parent, places)
        places.reach(.locked)
        try Self.putBack(from: staging, in: parent, places)
        copy = try Self.openCopy(in: staging, places)
        (published, publishedList) = try Self.openMirror(in: parent, places) ?? (nil, nil)
        let staging = staging
        notes = try places.translated { () throws(RecordStoreError) in
            try Self.ownFile(MirrorPlaces.notes, in: staging)
        }
        places.reach(.prepared)
    }

    /// Lets other runs create a mirror here.
    func unlock() { lock.close() }

    // MARK: Opening

    /// Opens the existing mirror and its list; `nil` before the first one.
    private static func openMirror(
        in parent: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) -> (DirectoryHandle?, MirrorList?)? {
        let status = try places.translated { () throws(RecordStoreError) in try parent.status(of: places.name) }
        guard let status else { return nil }
        guard status.kind == .directory else {
            throw places.failure("is not a directory. Choose another path, or move it away.")
        }
        let mirror = try places.translated { () throws(RecordStoreError) in try parent.directory(places.name) }
        let list = try checkedList(of: mirror, places) { path in
            """
            contains “\(path)”, which does not belong to a mirror and is kept. Choose another directory, or move “\(path)” away.
            """
        }
        return (mirror, list)
    }

    /// Returns the list of a mirror after checking that it contains nothing else and that no other user can write to it; `nil`
    /// if it is empty.
    private static func checkedList(
        of mirror: DirectoryHandle,
        _ places: MirrorPlaces,
        _ explanation: (String) -> String
    ) throws(MirrorStoreError) -> MirrorList? {
        try checkTrust(of: mirror, places)
        let (list, foreign) = try places.translated { () throws(RecordStoreError) in
            let list = try MirrorList(in: mirror, MirrorPlaces.list)
            return (list, try MirrorContents(directory: mirror).foreignPath { MirrorPlaces.hasFile($0, list) })
        }
        if let foreign { throw places.failure(explanation(foreign)) }
        return list
    }

    private static func checkTrust(of directory: DirectoryHandle, _ places: MirrorPlaces) throws(MirrorStoreError) {
        let status = try places.translated { () throws(RecordStoreError) in try directory.status() }
        if let problem = status.trustProblem {
            throw places.failure("cannot be mirrored into: “\(directory.path)” \(problem)")
        }
    }

    /// Opens the staging directory around the new mirror, and locks out other processes while the lock file is open.
    private static func lockedStaging(
        in parent: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) -> (DirectoryHandle, RecordFile) {
        while true {
            let staging = try places.translated { () throws(RecordStoreError) in
                try parent.directory(places.staging, making: 0o700)
            }
            try checkTrust(of: staging, places)
            let (file, isLocked, isThere) = try places.translated { () throws(RecordStoreError) in
                let file = try ownFile(MirrorPlaces.lock, in: staging)
                let isLocked = try file.lockAtOnce()
                let isFileThere = try staging.status(of: MirrorPlaces.lock)?.identity == file.status().identity
                let isStagingThere = try parent.status(of: places.staging)?.identity == staging.status().identity
                return (file, isLocked, isFileThere && isStagingThere)
            }
            guard isLocked else {
                throw places.failure("is being written by another process. Wait until it has finished.")
            }
            // The previous owner of the lock may have removed the file.
            guard isThere else { continue }
            let names = try places.translated { () throws(RecordStoreError) in try staging.names() }
            let known = [MirrorPlaces.copy, MirrorPlaces.previous, MirrorPlaces.notes, MirrorPlaces.lock]
            if let foreign = names.first(where: { !known.contains($0) }) {
                throw places.failure(planted(staging.path(of: foreign)))
            }
            return (staging, file)
        }
    }

    /// Opens or creates a file for reading and writing. Fails unless the file belongs to this user and has no other hard link,
    /// so writing to it cannot change a file elsewhere.
    private static func ownFile(
        _ name: String,
        in directory: DirectoryHandle
    ) throws(RecordStoreError) -> RecordFile {
        let file = try directory.file(name, O_RDWR | O_CREAT)
        let status = try directory.status(of: name)
        guard let status, status.identity != (try file.status().identity) || !status.isOwnFile else { return file }
        throw RecordStoreError(.denied, explanation: planted(directory.path(of: name)))
    }

    private static func planted(_ path: String) -> String {
        """
        cannot be mirrored into: “\(path)” was not left by an interrupted run. Nothing was changed. Find out what it is, and \
        move it away.
        """
    }

    /// Restores the old mirror if a process was killed after moving it away.
    private static func putBack(
        from staging: DirectoryHandle,
        in parent: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) {
        guard let previous = try directory(MirrorPlaces.previous, in: staging, places) else { return }
        let list = try checkedList(of: previous, places) { planted("\(previous.path)/\($0)") }
        try places.translated { () throws(RecordStoreError) in
            if try parent.status(of: places.name) == nil {
                if try staging.rename(MirrorPlaces.previous, to: parent, places.name, .creating) { return }
                _ = try staging.rename(MirrorPlaces.previous, to: parent, places.name, .replacing)
            } else {
                try MirrorContents(directory: previous).removeFiles { MirrorPlaces.hasFile($0, list) }
                try staging.removeDirectory(MirrorPlaces.previous)
            }
        }
    }

    /// Opens the new mirror, which an interrupted run may have left.
    private static func openCopy(
        in staging: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) -> DirectoryHandle {
        guard let copy = try directory(MirrorPlaces.copy, in: staging, places) else {
            return try places.translated { () throws(RecordStoreError) in
                try staging.directory(MirrorPlaces.copy, making: 0o755)
            }
        }
        try checkTrust(of: copy, places)
        let foreign = try places.translated { () throws(RecordStoreError) in
            try MirrorContents(directory: copy).foreignPath(MirrorPlaces.mayHave)
        }
        if let foreign { throw places.failure(planted("\(copy.path)/\(foreign)")) }
        return copy
    }

    /// Opens a directory; `nil` if it does not exist.
    private static func directory(
        _ name: String,
        in staging: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) -> DirectoryHandle? {
        let status = try places.translated { () throws(RecordStoreError) in try staging.status(of: name) }
        guard let status else { return nil }
        guard status.kind == .directory else { throw places.failure(planted(staging.path(of: name))) }
        return try places.translated { () throws(RecordStoreError) in try staging.directory(name) }
    }

    /// Returns the list of the complete files of the new mirror.
    func readNotes() throws(RecordStoreError) -> MirrorList {
        try MirrorList(in: staging, MirrorPlaces.notes) ?? MirrorList()
    }

    // MARK: Files

    /// Hard-links a file of the existing mirror into the new one, if the file system supports that.
    ///
    /// Files of a mirror are only ever replaced, not modified, so both mirrors can share one.
    ///
    /// - Returns: Whether the file was linked.
    func linkPublished(_ path: String) -> Bool {
        do throws(RecordStoreError) {
            guard var directory = published else { return false }
            for component in path.split(separator: "/").dropLast() {
                directory = try directory.directory(String(component))
            }
            let target = try copy.directory(of: path, making: 0o755)
            let name = String(path.split(separator: "/").last ?? "")
            try target.removeFile(name)
            try directory.link(name, to: target, name)
            return true
        } catch {
            return false
        }
    }

    // MARK: Publishing

    /// Replaces the existing mirror with the new one, and removes the old one.
    func publish() throws(MirrorStoreError) {
        let mirror = try Self.openMirror(in: parent, places)
        try places.translated { () throws(RecordStoreError) in
            try MirrorContents(directory: copy).flush()
            guard try staging.status(of: MirrorPlaces.copy)?.identity == copy.status().identity else {
                throw replacedMeanwhile
            }
        }
        places.reach(.publishing)
        guard let old = mirror?.0 else {
            return try finish(old: nil) { () throws(RecordStoreError) in
                if try staging.rename(MirrorPlaces.copy, to: parent, places.name, .creating) { return }
                _ = try staging.rename(MirrorPlaces.copy, to: parent, places.name, .replacing)
            }
        }
        guard let list = mirror?.1 else {
            // The existing directory is empty. It is replaced only if it is still empty.
            return try finish(old: nil) { () throws(RecordStoreError) in
                _ = try staging.rename(MirrorPlaces.copy, to: parent, places.name, .replacing)
            }
        }
        let identity = try places.translated { () throws(RecordStoreError) in try old.status().identity }
        let isExchanged = try places.translated { () throws(RecordStoreError) in
            guard places.canExchange else { return false }
            return try staging.rename(MirrorPlaces.copy, to: parent, places.name, .exchanging)
        }
        try finish(old: isExchanged ? MirrorPlaces.copy : MirrorPlaces.previous) { () throws(RecordStoreError) in
            guard isExchanged else { return try replaceInTwoSteps(old, list, identity) }
            places.reach(.exchanged)
            do throws(RecordStoreError) {
                try checkOld(MirrorPlaces.copy, old, list, identity)
                guard try parent.status(of: places.name)?.identity == copy.status().identity else {
                    throw replacedMeanwhile
                }
            } catch {
                _ = try staging.rename(MirrorPlaces.copy, to: parent, places.name, .exchanging)
                throw error
            }
        }
    }

    /// Moves the old mirror away, and then moves the new one into its place.
    private func replaceInTwoSteps(
        _ old: DirectoryHandle,
        _ list: MirrorList,
        _ identity: RecordFile.Identity
    ) throws(RecordStoreError) {
        _ = try parent.rename(places.name, to: staging, MirrorPlaces.previous, .replacing)
        places.reach(.moved)
        do throws(RecordStoreError) {
            try checkOld(MirrorPlaces.previous, old, list, identity)
            _ = try staging.rename(MirrorPlaces.copy, to: parent, places.name, .replacing)
        } catch {
            _ = try staging.rename(MirrorPlaces.previous, to: parent, places.name, .replacing)
            throw error
        }
    }

    /// Checks that the old mirror is where it was moved to in the staging directory, and that no foreign file was added to it
    /// since the last check.
    private func checkOld(
        _ name: String,
        _ old: DirectoryHandle,
        _ list: MirrorList,
        _ identity: RecordFile.Identity
    ) throws(RecordStoreError) {
        guard try staging.status(of: name)?.identity == identity else { throw replacedMeanwhile }
        let foreign = try MirrorContents(directory: old).foreignPath { MirrorPlaces.hasFile($0, list) }
        guard let foreign else { return }
        throw RecordStoreError(
            .unavailable,
            explanation: """
                “\(foreign)” was added to it during mirroring, does not belong to a mirror, and is kept. Choose another \
                directory, or move “\(foreign)” away.
                """
        )
    }

    private var replacedMeanwhile: RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: "Another process replaced it during mirroring, and the replacement is kept. Run it again."
        )
    }

    /// Performs the replacement, and removes the old mirror, which has the given name in the staging directory.
    private func finish(
        old: String?,
        _ replace: () throws(RecordStoreError) -> Void
    ) throws(MirrorStoreError) {
        try places.translated { () throws(RecordStoreError) in
            try replace()
            try parent.flush()
        }
        // The next run removes what remains, or rejects it if it does not belong to a mirror.
        do throws(RecordStoreError) {
            if let old {
                let directory = try staging.directory(old)
                let list = try MirrorList(in: directory, MirrorPlaces.list)
                try MirrorContents(directory: directory).removeFiles { MirrorPlaces.hasFile($0, list) }
                try staging.removeDirectory(old)
            }
            try staging.removeFile(MirrorPlaces.notes)
            try staging.removeFile(MirrorPlaces.lock)
            try parent.removeDirectory(places.staging)
        } catch {}
    }
}
