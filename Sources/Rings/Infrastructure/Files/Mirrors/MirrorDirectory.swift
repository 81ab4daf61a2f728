public import Foundation
import InwardFileStores
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
