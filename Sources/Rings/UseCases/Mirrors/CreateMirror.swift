import Entities
public import InwardCore
public import InwardTransfers

/// Makes a consistent copy of the users, the posts and the users' images of an upstream.
///
/// Users and posts belong together: when all is copied, the upstream is asked whether it has still the same, and what is not is
/// copied again. The copy is seen when it is whole and not before. What is there already, from a run that was interrupted or in the
/// mirror there is, is not transferred again if the source says that it is unchanged; one that tells no versions is asked for all.
public struct CreateMirror: Sendable {
    /// How often users and posts are copied before they are given up.
    private static let maximumRounds = 4

    private let source: any MirrorSource
    private let store: any MirrorStore
    private let limits: MirrorLimits

    /// Makes the use case.
    ///
    /// - Parameters:
    ///   - source: Where the originals are.
    ///   - store: Where the mirror is kept.
    ///   - limits: When an upstream is given up that may never end.
    public init(from source: any MirrorSource, in store: any MirrorStore, limits: MirrorLimits = MirrorLimits()) {
        self.limits = limits
        self.source = source
        self.store = store
    }

    /// Makes the mirror.
    ///
    /// - Parameter progress: Called after each item with how many are done, and of how many, as far as that is known.
    /// - Returns: what the mirror has.
    /// - Throws: a ``CreateMirrorError`` if there is no new one.
    public func callAsFunction(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(CreateMirrorError) -> MirrorReport {
        let staging = try await keeping { () async throws(MirrorStoreError) in try await store.openStaging() }
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
            // What earlier runs left for other users must not fill the disk.
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

    /// Has an item in the new mirror, as the source has it now.
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

    /// Has an item in the new mirror, unless the source has none.
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

    /// Whether the source has still what was copied. One that tells no version is read once more.
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
                    has \(count) users, and MirrorLimits.maximumImageCount allows \(limits.maximumImageCount) images. Raise that \
                    limit if the upstream is right
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

    /// Why the task is to end now; `nil` if it may go on.
    private var ending: CreateMirrorError? {
        if Task.isCancelled { return .cancelled }
        return Deadline.current?.hasPassed == true ? .timedOut : nil
    }
}

/// What a mirror has that was made.
public struct MirrorReport: Hashable, Sendable {
    /// How many users it has.
    public let userCount: Int
    /// How many posts it has.
    public let postCount: Int
    /// How many images of users it has.
    public let avatarCount: Int
    /// How many items were transferred for it; the others were there already, and unchanged.
    public let transferredCount: Int
}

/// Why there is no new mirror. The one there was is what it was before.
public enum CreateMirrorError: Error, Hashable, Sendable {
    /// The caller gave up. What is there already serves the next run.
    case cancelled
    /// The deadline passed first. What is there already serves the next run.
    case timedOut
    /// An item could not be loaded.
    case unavailable(DataLoaderError)
    /// The upstream passed one of the ``MirrorLimits``. The error names the limit.
    case limitExceeded(DataLoaderError)
    /// What came is no list of users, or none of posts.
    case unreadable(RepositoryError)
    /// An item could not be saved.
    case unwritable(DataSaverError)
    /// The mirror cannot be kept where it was to be.
    case unkept(MirrorStoreError)
    /// The users or the posts changed each time while the others were being copied.
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

/// The limits at which a mirror gives up an upstream that may never end.
///
/// A mirror that passes one of these limits ends with ``CreateMirrorError/limitExceeded(_:)``.
public struct MirrorLimits: Hashable, Sendable {
    /// The most bytes of the list of users, and of that of posts.
    public var maximumListByteCount: Int
    /// The most bytes of an image.
    public var maximumImageByteCount: Int
    /// The most images.
    public var maximumImageCount: Int
    /// The most bytes of all lists and images together.
    public var maximumTotalByteCount: Int

    /// Makes limits: without arguments 64 MiB for a list, 32 MiB for an image, 100,000 images, and 4 GiB for everything.
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

    /// The limits for the transfer of an item.
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
