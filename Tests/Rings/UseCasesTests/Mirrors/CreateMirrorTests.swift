import Entities
import InwardCore
import InwardTesting
import InwardTransfers
import Synchronization
import Testing
import UseCases
import UseCasesTesting

struct CreateMirrorTests {
    private let first = MirroredItem.avatar(User.ID(1))
    private let second = MirroredItem.avatar(User.ID(2))
    private let store: InMemoryMirrorStore
    private let users: InMemoryDataLoader
    private let posts: InMemoryDataLoader
    private let image = InMemoryDataLoader([5, 6, 7], source: "image")
    private let originals: MirrorOriginals

    init() throws {
        store = InMemoryMirrorStore(
            users: InMemoryUserRepository([try .example(1), try .example(2)]),
            posts: InMemoryPostRepository([try .example()])
        )
        users = InMemoryDataLoader([1, 2], source: "users")
        posts = InMemoryDataLoader([3, 4], source: "posts")
        originals = MirrorOriginals([.users: users, .posts: posts, .avatar(User.ID(1)): image])
    }

    private func mirror(_ progress: (Int, Int) -> Void = { _, _ in }) async throws(CreateMirrorError) -> MirrorReport {
        try await CreateMirror(from: originals, in: store)(progress: progress)
    }

    @Test func everyExistingItemIsCopied() async throws {
        var progress: [[Int]] = []
        let report = try await mirror { progress.append([$0, $1]) }
        #expect(report.userCount == 2)
        #expect(report.postCount == 1)
        #expect(report.avatarCount == 1)
        #expect(report.transferredCount == 3)
        #expect(store.items == [.users, .posts, first])
        #expect(store[.users] == [1, 2])
        #expect(store[.posts] == [3, 4])
        #expect(store[first] == [5, 6, 7])
        #expect(progress == [[2, 4], [3, 4], [4, 4]])
    }

    @Test(arguments: [1, 2]) func runLeavesItsStagingEvenIfItFails(limit: Int) async throws {
        _ = try? await CreateMirror(from: originals, in: store, limits: MirrorLimits(maximumListByteCount: limit))()
        #expect(store.publishedCount == limit - 1)
        _ = try await store.openStaging()
    }

    /// Returns the explanation of the exceeded limit; `nil` if the mirror was created.
    private func problem(_ limits: MirrorLimits) async -> String? {
        do {
            _ = try await CreateMirror(from: originals, in: store, limits: limits)()
            return nil
        } catch .limitExceeded(let cause) {
            return cause.explanation
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func mirrorWithinItsLimitsIsCreated() async {
        #expect(await problem(MirrorLimits(maximumListByteCount: 2, maximumTotalByteCount: 7)) == nil)
        #expect(await problem(MirrorLimits(maximumImageByteCount: 3, maximumImageCount: 2)) == nil)
    }

    @Test func errorNamesTheExceededLimit() async {
        #expect(
            await problem(MirrorLimits(maximumListByteCount: 1))?
                .hasPrefix("exceeds the limit of 1 bytes set by MirrorLimits.maximumListByteCount") == true
        )
        #expect(
            await problem(MirrorLimits(maximumImageByteCount: 2))?
                .hasPrefix("exceeds the limit of 2 bytes set by MirrorLimits.maximumImageByteCount") == true
        )
        #expect(
            await problem(MirrorLimits(maximumTotalByteCount: 6))?
                .contains("MirrorLimits.maximumTotalByteCount (6 for everything)") == true
        )
        // If two limits are equal, the error names the one for the item.
        #expect(
            await problem(MirrorLimits(maximumListByteCount: 1, maximumTotalByteCount: 1))?
                .contains("MirrorLimits.maximumListByteCount") == true
        )
        #expect(await problem(MirrorLimits(maximumImageCount: 1))?.contains("MirrorLimits.maximumImageCount") == true)
        #expect(store.publishedCount == 0)
    }

    @Test func transferredBytesCountTowardTheTotalLimit() async {
        #expect(await problem(MirrorLimits(maximumTotalByteCount: 6)) != nil)
        #expect(await problem(MirrorLimits(maximumTotalByteCount: 7)) == nil)
    }

    @Test func rereadingForChangesDoesNotCountTowardTheTotalLimit() async {
        originals.set(InMemoryDataLoader([1, 2], validator: nil, source: "users"), for: .users)
        originals.set(InMemoryDataLoader([], validator: nil, source: "posts"), for: .posts)
        originals.set(InMemoryDataLoader([], source: "image"), for: first)
        #expect(await problem(MirrorLimits(maximumTotalByteCount: 2)) == nil)
    }

    @Test func reusedItemsCountTowardTheTotalLimit() async throws {
        _ = try await mirror()
        #expect(await problem(MirrorLimits(maximumTotalByteCount: 6)) != nil)
        #expect(await problem(MirrorLimits(maximumTotalByteCount: 7)) == nil)
    }

    @Test func unchangedItemsAreNotCopiedAgain() async throws {
        _ = try await mirror()
        users.replace(with: [9], validator: "2")
        let report = try await mirror()
        #expect(report.transferredCount == 1)
        #expect(store[.users] == [9])
        #expect(store[first] == [5, 6, 7])
    }

    @Test func itemsOfAnotherSourceAreCopiedAgain() async throws {
        _ = try await mirror()
        originals.set(InMemoryDataLoader([8], source: "others"), for: .users)
        originals.set(InMemoryDataLoader([7], source: nil), for: .posts)
        #expect(try await mirror().transferredCount == 2)
        #expect(store[.users] == [8])
        #expect(store[.posts] == [7])
    }

    @Test func deletedItemsAreLeftOut() async throws {
        _ = try await mirror()
        originals.set(
            InMemoryDataLoader([]) { (_, _) throws(DataLoaderError) in
                throw DataLoaderError(source: "image", explanation: "is gone", meansAbsence: true)
            },
            for: first
        )
        #expect(try await mirror().avatarCount == 0)
        #expect(store.items == [.users, .posts])
    }

    @Test func usersThatChangeDuringMirroringAreCopiedAgain() async throws {
        let users = users
        let image = InMemoryDataLoader([5], source: "image") { _, _ in users.replace(with: [9], validator: "2") }
        originals.set(image, for: first)
        let report = try await mirror()
        #expect(store[.users] == [9])
        #expect(report.transferredCount == 4)
        #expect(store.publishedCount == 1)
    }

    @Test(arguments: [false, true]) func postsThatChangeDuringMirroringAreCopiedAgain(areVersioned: Bool) async throws {
        let posts = InMemoryDataLoader([3], validator: areVersioned ? "1" : nil, source: "posts")
        originals.set(posts, for: .posts)
        originals.set(
            InMemoryDataLoader([5], source: "image") { _, _ in
                posts.replace(with: [9], validator: areVersioned ? "2" : nil)
            },
            for: first
        )
        _ = try await mirror()
        #expect(store[.posts] == [9])
        #expect(store.publishedCount == 1)
    }

    /// The users change while the posts are copied, in `count` rounds.
    @Test(arguments: [(3, true), (4, false)]) func usersMayChangeInThreeRoundsButNotInFour(count: Int, isMirrored: Bool)
        async throws
    {
        let left = Mutex(count)
        let users = users
        originals.set(
            InMemoryDataLoader([3], validator: nil, source: "posts") { _, _ in
                let number = left.withLock { left in
                    left -= 1
                    return left
                }
                if number >= 0 { users.replace(with: [9], validator: "left: \(number)") }
            },
            for: .posts
        )
        if isMirrored {
            _ = try await mirror()
        } else {
            await #expect(throws: CreateMirrorError.restless) { try await mirror() }
        }
        #expect(store.publishedCount == (isMirrored ? 1 : 0))
    }

    /// A source without a validator at first, which changes while it is read for the second time.
    private final class RestlessLoader: DataLoader {
        let source: String? = "posts"
        private let readings = Mutex(0)

        func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
            let number = readings.withLock { readings in
                if offset == 0 { readings += 1 }
                return readings
            }
            guard number == 2 else {
                let bytes: [UInt8] = number < 2 ? [3, 3] : [4, 4]
                return LoadedChunk(DataChunk(bytes, at: 0, isLast: true), validator: nil, totalByteCount: 2)
            }
            let chunk = DataChunk([3], at: offset, isLast: offset == 1)
            return LoadedChunk(chunk, validator: "\(offset)", totalByteCount: 2)
        }
    }

    @Test func postsThatChangeWhileTheyAreRereadAreCopiedAgain() async throws {
        originals.set(RestlessLoader(), for: .posts)
        _ = try await mirror()
        #expect(store[.posts] == [4, 4])
        #expect(store.publishedCount == 1)
    }

    @Test func upstreamThatKeepsChangingIsAnError() async throws {
        let count = Mutex(1)
        let (users, posts) = (users, posts)
        originals.set(
            InMemoryDataLoader([3], source: "posts") { _, _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                users.replace(with: [9], validator: "\(number)")
            },
            for: .posts
        )
        await #expect(throws: CreateMirrorError.restless) { try await mirror() }
        #expect(store.publishedCount == 0)
        originals.set(posts, for: .posts)
        #expect(try await mirror().avatarCount == 1)
    }

    @Test func failedItemLeavesTheExistingMirrorUnchanged() async throws {
        _ = try await mirror()
        users.replace(with: [9], validator: "2")
        let failure = DataLoaderError(source: "image", explanation: "was answered with 503")
        let failing = InMemoryDataLoader([5]) { (_, _) throws(DataLoaderError) in throw failure }
        originals.set(failing, for: second)
        await #expect(throws: CreateMirrorError.unavailable(failure)) { try await mirror() }
        #expect(store[.users] == [1, 2])
        // The next run copies only the missing image.
        originals.set(InMemoryDataLoader([8], source: "image"), for: second)
        #expect(try await mirror().transferredCount == 1)
        #expect(store[.users] == [9])
        #expect(store[second] == [8])
    }

    @Test func cancelledMirrorIsNotPublished() async throws {
        let failing = InMemoryDataLoader([5], source: "image") { _, _ in
            // `unsafe`: the reference is used only during the call, inside its own task.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        }
        originals.set(failing, for: first)
        let mirror = CreateMirror(from: originals, in: store)
        let task = Task { try await mirror() }
        await #expect(throws: CreateMirrorError.cancelled) { try await task.value }
        #expect(store.publishedCount == 0)
    }

    /// Loading the image takes one second.
    @Test(arguments: [(Duration.milliseconds(999), false), (.milliseconds(1_001), true)])
    func mirroringEndsAtTheDeadline(limit: Duration, isPublished: Bool) async throws {
        let clock = ManualClock()
        originals.set(
            InMemoryDataLoader([5], source: "image") { _, _ in clock.advance(by: .seconds(1)) },
            for: first
        )
        let result = await Deadline(in: limit, on: TimerService(clock)).carried {
            () async throws(CreateMirrorError) in try await mirror()
        }
        #expect(result.map(\.avatarCount) == (isPublished ? .success(1) : .failure(.timedOut)))
        #expect(store.publishedCount == (isPublished ? 1 : 0))
    }

    @Test func unreadableListIsNotPublished() async throws {
        let failure = RepositoryError(.unreadable, request: "GET users", explanation: "is not a list")
        let users = InMemoryUserRepository([])
        users.fail(with: failure)
        let store = InMemoryMirrorStore(users: users, posts: InMemoryPostRepository([]))
        await #expect(throws: CreateMirrorError.unreadable(failure)) {
            try await CreateMirror(from: originals, in: store)()
        }
        #expect(store.publishedCount == 0)
    }
}
