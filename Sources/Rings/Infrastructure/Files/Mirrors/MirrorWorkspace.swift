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

/// The directories that a mirror is made in. They stay open, and are locked for this process, until the workspace is deallocated.
///
/// A user who could write in these directories could make the process read, replace or remove files elsewhere. So a directory is
/// refused if it belongs to another user, if others can write it, or if it holds anything that a mirror does not have. All work goes
/// through open directories, and no symbolic link is followed.
struct MirrorWorkspace: Sendable {
    let places: MirrorPlaces
    /// The mirror that is being made.
    let copy: DirectoryHandle
    /// The existing mirror; `nil` before the first one.
    let published: DirectoryHandle?
    /// What belongs to the existing mirror.
    let publishedList: MirrorList?
    /// The file that says what is whole in the mirror that is being made.
    let notes: RecordFile

    private let parent: DirectoryHandle
    private let staging: DirectoryHandle
    private let lock: RecordFile

    /// Opens the directories, makes those that are missing, and puts back what a process moved away that was killed then.
    init(_ places: MirrorPlaces) throws(MirrorStoreError) {
        self.places = places
        guard places.directory.pathComponents.count > 1 else {
            throw places.failure("is no place for a mirror. Name another directory.")
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

    // MARK: Opening

    /// Opens the existing mirror, with its list; `nil` before the first one.
    private static func openMirror(
        in parent: DirectoryHandle,
        _ places: MirrorPlaces
    ) throws(MirrorStoreError) -> (DirectoryHandle?, MirrorList?)? {
        let status = try places.translated { () throws(RecordStoreError) in try parent.status(of: places.name) }
        guard let status else { return nil }
        guard status.kind == .directory else {
            throw places.failure("is not a directory. Name another, or move it away.")
        }
        let mirror = try places.translated { () throws(RecordStoreError) in try parent.directory(places.name) }
        let list = try checkedList(of: mirror, places) { path in
            """
            holds something that belongs to no mirror, “\(path)”. It is kept: name another directory, or move that away.
            """
        }
        return (mirror, list)
    }

    /// Returns the list of a mirror that holds nothing else and that no other user can write; `nil` if it is empty.
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

    /// Opens what is around the mirror that is being made, and keeps every other process from it as long as the file is open.
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
                throw places.failure("is being mirrored into by somebody else. Wait until that is done.")
            }
            // Who had it locked before may have taken it away.
            guard isThere else { continue }
            let names = try places.translated { () throws(RecordStoreError) in try staging.names() }
            let known = [MirrorPlaces.copy, MirrorPlaces.previous, MirrorPlaces.notes, MirrorPlaces.lock]
            if let foreign = names.first(where: { !known.contains($0) }) {
                throw places.failure(planted(staging.path(of: foreign)))
            }
            return (staging, file)
        }
    }

    /// Opens a file for reading and writing, or makes it, if it is this user's and has no other name: writing changes nothing else.
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
        cannot be mirrored into: “\(path)” was not made by a mirror that was interrupted. Nothing was changed: find out what it \
        is, and move it away.
        """
    }

    /// Puts the old mirror back that a process moved away which was killed then.
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

    /// Opens the mirror that is being made, which an earlier run may have left.
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

    /// Opens a directory; `nil` if there is nothing of its name.
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

    /// The list of what is whole in the mirror that is being made.
    func readNotes() throws(RecordStoreError) -> MirrorList {
        try MirrorList(in: staging, MirrorPlaces.notes) ?? MirrorList()
    }

    // MARK: Files

    /// Gives a file of the mirror there is a second name in the one that is being made, where the file system has that. Neither
    /// is written into, only replaced.
    ///
    /// - Returns: whether it has that name.
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

    /// Puts the mirror that was made in the place of the one there is, and removes that.
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
            // It is empty, and replaced only if it still is.
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

    /// Moves the old mirror away, and then the new one to its place.
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

    /// Checks that the old mirror is still in its place in the staging directory, and that no file was added to it since the last
    /// check.
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
                Somebody put something into it meanwhile that belongs to no mirror, “\(foreign)”. It is kept: name another \
                directory, or move that away.
                """
        )
    }

    private var replacedMeanwhile: RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: "Somebody else replaced it meanwhile. What was put there is kept. Run it again."
        )
    }

    /// Ends the work, with the old mirror under a name of the staging directory.
    private func finish(
        old: String?,
        _ replace: () throws(RecordStoreError) -> Void
    ) throws(MirrorStoreError) {
        try places.translated { () throws(RecordStoreError) in
            try replace()
            try parent.flush()
        }
        // What stays is removed by the next run, or refused by it if it is not a mirror's.
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
