import Entities
public import InwardCore
public import InwardTransfers

/// A use case that creates a consistent copy of an upstream's users, posts and user images.
///
/// ```swift
/// func mirror(_ source: any MirrorSource) async throws -> MirrorReport {
///     let store = InMemoryMirrorStore(users: users, posts: posts)
///     let createMirror = CreateMirror(from: source, in: store)
///     return try await createMirror { done, total in
///         print("\(done) of \(total)")
///     }
/// }
/// ```
///
/// The two lists must be consistent with each other. If the upstream's users or posts change during the copy, they are
/// copied again, up to four times in all. The mirror becomes visible only when it is complete.
///
/// Items from an interrupted run or from the existing mirror are reused if the source confirms that they are unchanged. A
/// source without validators is transferred in full.
public struct CreateMirror: Sendable {
    /// The maximum number of attempts to copy users and posts consistently.
    private static let maximumRounds = 4

    private let source: any MirrorSource
    private let store: any MirrorStore
    private let limits: MirrorLimits

    /// Creates the use case.
    ///
    /// - Parameters:
    ///   - source: The source of the originals.
    ///   - store: The store that keeps the mirror.
    ///   - limits: The maximum sizes and numbers of items, so that no upstream can fill the disk.
    public init(from source: any MirrorSource, in store: any MirrorStore, limits: MirrorLimits = MirrorLimits()) {
        self.limits = limits
        self.source = source
        self.store = store
    }

    /// Creates the mirror.
    ///
    /// - Parameter progress: Called when both lists are copied, and then after each image, with the number of finished items
    ///   and their total. If the lists have changed, the numbers start over.
    /// - Returns: A report of what the mirror contains.
    /// - Throws: A ``CreateMirrorError`` if no new mirror was published.
    public func callAsFunction(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(CreateMirrorError) -> MirrorReport {
        let staging = try await keeping { () async throws(MirrorStoreError) in try await store.openStaging() }
        do {
            let report = try await mirror(in: staging, progress)
            await staging.leave()
            return report
        } catch {
            await staging.leave()
            throw error
        }
    }

    private func mirror(
        in staging: any MirrorStaging,
        _ progress: (_ done: Int, _ total: Int) -> Void
    ) async throws(CreateMirrorError) -> MirrorReport {
        var transferredCount = 0
        for _ in 0..<Self.maximumRounds {
            var items: [MirroredItem] = [.users, .posts]
            var byteCount = 0
            let users = try await copied(.users, in: staging, &byteCount, &transferredCount)
            let posts = try await copied(.posts, in: staging, &byteCount, &transferredCount)
            let userIDs = try await reading { () async throws(RepositoryError) in
                try await staging.users.users(.cacheFirst).value.map(\.id)
            }
            let postCount = try await reading { () async throws(RepositoryError) in
                try await staging.posts.posts(.cacheFirst).value.count
            }
            guard userIDs.count <= limits.maximumImageCount else { throw tooManyImages(userIDs.count) }
            // Earlier runs may have left images of users who no longer exist, which must not fill the disk.
            let wanted = items + userIDs.map { .avatar($0) }
            try await keeping { () async throws(MirrorStoreError) in try await staging.keepOnly(wanted) }
            progress(2, 2 + userIDs.count)
            for (index, id) in userIDs.enumerated() {
                if try await copiedIfThere(.avatar(id), in: staging, &byteCount, &transferredCount) {
                    items.append(.avatar(id))
                }
                progress(3 + index, 2 + userIDs.count)
            }
            guard try await isUnchanged(.users, users), try await isUnchanged(.posts, posts) else { continue }
            if let ending { throw ending }
            let whole = items
            try await keeping { () async throws(MirrorStoreError) in try await staging.publish(whole) }
            return MirrorReport(
                userCount: userIDs.count,
                postCount: postCount,
                avatarCount: items.count - 2,
                transferredCount: transferredCount
            )
        }
        throw .restless
    }

    /// Ensures that staging has the source's current version of an item.
    private func copied(
        _ item: MirroredItem,
        in staging: any MirrorStaging,
        _ byteCount: inout Int,
        _ transferredCount: inout Int
    ) async throws(CreateMirrorError) -> MirroredCopy {
        let loader = source.loader(of: item)
        let limits = limits.limits(for: item, after: byteCount)
        let copy = try await keeping { () async throws(MirrorStoreError) in try await staging.copy(of: item) }
        if let copy, copy.byteCount <= limits.maximumByteCount, let name = loader.source, copy.source == name,
            let validator = copy.validator,
            try await loading({ () async throws(DataLoaderError) in try await loader.stillHas(validator) })
        {
            byteCount += copy.byteCount
            return copy
        }
        let report: TransferReport
        do {
            report = try await TransferData(from: loader, to: staging.saver(of: item), limits: limits)()
        } catch {
            throw CreateMirrorError(error)
        }
        let new = MirroredCopy(
            source: loader.source,
            validator: report.validator,
            byteCount: report.savedByteCount,
            checksum: report.checksum
        )
        try await keeping { () async throws(MirrorStoreError) in try await staging.keep(new, of: item) }
        transferredCount += 1
        byteCount += new.byteCount
        return new
    }

    /// Copies an item into staging; returns `false` if the source does not have it.
    private func copiedIfThere(
        _ item: MirroredItem,
        in staging: any MirrorStaging,
        _ byteCount: inout Int,
        _ transferredCount: inout Int
    ) async throws(CreateMirrorError) -> Bool {
        do {
            _ = try await copied(item, in: staging, &byteCount, &transferredCount)
            return true
        } catch .unavailable(let cause) where cause.meansAbsence {
            return false
        }
    }

    /// Returns whether the source still has the copied version. Without a validator, it rereads the source and compares
    /// checksums.
    private func isUnchanged(_ item: MirroredItem, _ copy: MirroredCopy) async throws(CreateMirrorError) -> Bool {
        let loader = source.loader(of: item)
        let limits = limits.limits(for: item, after: 0)
        return try await loading { () async throws(DataLoaderError) in
            if let validator = copy.validator { return try await loader.stillHas(validator) }
            return try await loader.checksum(limits: limits).map { $0 == (copy.checksum, copy.byteCount) } ?? false
        }
    }

    private func tooManyImages(_ count: Int) -> CreateMirrorError {
        .limitExceeded(
            DataLoaderError(
                source: source.loader(of: .users).source ?? "The upstream",
                explanation: """
                    has \(count) users, but MirrorLimits.maximumImageCount allows \(limits.maximumImageCount) images. Raise \
                    the limit if the number of users is correct
                    """
            )
        )
    }

    private func loading<Answer>(
        _ work: () async throws(DataLoaderError) -> Answer
    ) async throws(CreateMirrorError) -> Answer {
        if let ending { throw ending }
        do {
            return try await work()
        } catch {
            throw ending ?? .unavailable(error)
        }
    }

    private func keeping<Answer>(
        _ work: () async throws(MirrorStoreError) -> Answer
    ) async throws(CreateMirrorError) -> Answer {
        if let ending { throw ending }
        do {
            return try await work()
        } catch {
            throw ending ?? .unkept(error)
        }
    }

    private func reading<Answer>(
        _ work: () async throws(RepositoryError) -> Answer
    ) async throws(CreateMirrorError) -> Answer {
        do {
            return try await work()
        } catch {
            throw ending ?? .unreadable(error)
        }
    }

    /// The reason to stop now: cancellation or a passed deadline; `nil` to continue.
    private var ending: CreateMirrorError? {
        if Task.isCancelled { return .cancelled }
        return Deadline.current?.hasPassed == true ? .timedOut : nil
    }
}

/// A summary of a new mirror.
///
/// ```swift
/// func hasChanges(_ createMirror: CreateMirror) async throws -> Bool {
///     let report = try await createMirror()
///     print("\(report.userCount) users, \(report.postCount) posts, \(report.avatarCount) images")
///     return report.transferredCount > 0
/// }
/// ```
public struct MirrorReport: Hashable, Sendable {
    /// The number of users.
    public let userCount: Int
    /// The number of posts.
    public let postCount: Int
    /// The number of user images.
    public let avatarCount: Int
    /// The number of items that were transferred. The others were already present and unchanged.
    public let transferredCount: Int
}

/// An error that prevents a new mirror. The existing mirror stays as it was.
///
/// ```swift
/// func canRetry(after error: CreateMirrorError) -> Bool {
///     switch error {
///     case .cancelled, .timedOut, .unavailable, .restless: true
///     case .limitExceeded, .unreadable, .unwritable, .unkept: false
///     }
/// }
/// ```
public enum CreateMirrorError: Error, Hashable, Sendable {
    /// The calling task was cancelled. The next run reuses what was copied.
    case cancelled
    /// The deadline passed. The next run reuses what was copied.
    case timedOut
    /// An item could not be loaded.
    case unavailable(DataLoaderError)
    /// The upstream exceeded one of the ``MirrorLimits``. The error names the limit.
    case limitExceeded(DataLoaderError)
    /// The copied list of users or posts cannot be read.
    case unreadable(RepositoryError)
    /// An item could not be saved.
    case unwritable(DataSaverError)
    /// The mirror could not be stored.
    case unkept(MirrorStoreError)
    /// The users, the posts or an image changed during every attempt to copy them.
    case restless

    init(_ error: TransferDataError) {
        self =
            switch error {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .unreadable(let cause): .unavailable(cause)
            case .limitExceeded(let cause): .limitExceeded(cause)
            case .unwritable(let cause): .unwritable(cause)
            case .restless: .restless
            }
    }
}

/// Limits on what a mirror copies, so that no upstream can fill the disk.
///
/// ```swift
/// func makeMirror(of source: any MirrorSource, in store: any MirrorStore) -> CreateMirror {
///     CreateMirror(from: source, in: store, limits: MirrorLimits(maximumImageCount: 1_000))
/// }
/// ```
///
/// If a limit is exceeded, creating the mirror fails with ``CreateMirrorError/limitExceeded(_:)``.
public struct MirrorLimits: Hashable, Sendable {
    /// The maximum size of each list (users, posts), in bytes.
    public var maximumListByteCount: Int
    /// The maximum size of an image, in bytes.
    public var maximumImageByteCount: Int
    /// The maximum number of images.
    public var maximumImageCount: Int
    /// The maximum size of all lists and images together, in bytes.
    public var maximumTotalByteCount: Int

    /// Creates limits. The defaults are 64 MiB per list, 32 MiB per image, 100,000 images, and 4 GiB in total. Negative values
    /// count as zero.
    public init(
        maximumListByteCount: Int = 64 * 1_024 * 1_024,
        maximumImageByteCount: Int = 32 * 1_024 * 1_024,
        maximumImageCount: Int = 100_000,
        maximumTotalByteCount: Int = 4 * 1_024 * 1_024 * 1_024
    ) {
        self.maximumListByteCount = max(0, maximumListByteCount)
        self.maximumImageByteCount = max(0, maximumImageByteCount)
        self.maximumImageCount = max(0, maximumImageCount)
        self.maximumTotalByteCount = max(0, maximumTotalByteCount)
    }

    /// Returns the limits for transferring an item, after the given number of bytes has been copied.
    func limits(for item: MirroredItem, after byteCount: Int) -> TransferLimits {
        let (itemLimit, name) =
            if case .avatar = item {
                (maximumImageByteCount, "MirrorLimits.maximumImageByteCount")
            } else {
                (maximumListByteCount, "MirrorLimits.maximumListByteCount")
            }
        let rest = max(0, maximumTotalByteCount - byteCount)
        var limits = TransferLimits(maximumByteCount: min(itemLimit, rest))
        limits.maximumByteCountName =
            itemLimit <= rest ? name : "MirrorLimits.maximumTotalByteCount (\(maximumTotalByteCount) for everything)"
        return limits
    }
}
