import InwardTesting
import InwardTransfers
import Synchronization
public import UseCases

/// An in-memory mirror store. A staged mirror reads its users and posts from the repositories that the test passes, not from
/// the staged copies.
///
/// ```swift
/// let store = InMemoryMirrorStore(
///     users: InMemoryUserRepository([try .example(1)]),
///     posts: InMemoryPostRepository([try .example(7)])
/// )
/// print(store.items.isEmpty, store.publishedCount)  // true 0
/// ```
public final class InMemoryMirrorStore: MirrorStore {
    private struct State {
        var published: [MirroredItem: (copy: MirroredCopy, bytes: [UInt8])] = [:]
        var staged: [MirroredItem: MirroredCopy] = [:]
        var savers: [MirroredItem: InMemoryDataSaver] = [:]
        var publishedCount = 0
        var isOpen = false
    }

    private struct Staging: MirrorStaging {
        let store: InMemoryMirrorStore
        var users: any UserRepository { store.users }
        var posts: any PostRepository { store.posts }

        func copy(of item: MirroredItem) async throws(MirrorStoreError) -> MirroredCopy? {
            store.state.withLock { $0.staged[item] ?? $0.published[item]?.copy }
        }

        func saver(of item: MirroredItem) -> any DataSaver { store.saver(of: item) }

        func keep(_ copy: MirroredCopy, of item: MirroredItem) async throws(MirrorStoreError) {
            store.state.withLock { $0.staged[item] = copy }
        }

        func keepOnly(_ items: [MirroredItem]) async throws(MirrorStoreError) {
            store.state.withLock { state in
                let items = Set(items)
                state.staged = state.staged.filter { items.contains($0.key) }
            }
        }

        func publish(_ items: [MirroredItem]) async throws(MirrorStoreError) {
            store.publish(items)
        }

        func leave() async { store.state.withLock { $0.isOpen = false } }
    }

    private let users: any UserRepository
    private let posts: any PostRepository
    private let state = Mutex(State())

    /// Creates a store without a mirror.
    ///
    /// - Parameters:
    ///   - users: The repository of the mirror's users.
    ///   - posts: The repository of the mirror's posts.
    public init(users: any UserRepository, posts: any PostRepository) {
        self.users = users
        self.posts = posts
    }

    /// The mirror's copy of an item, or `nil` if it has none.
    public subscript(item: MirroredItem) -> [UInt8]? { state.withLock { $0.published[item]?.bytes } }

    /// The items in the mirror.
    public var items: Set<MirroredItem> { state.withLock { Set($0.published.keys) } }

    /// The number of mirrors published so far.
    public var publishedCount: Int { state.withLock(\.publishedCount) }

    /// Opens the staging area that an earlier run left, or a new one.
    ///
    /// - Throws: A `MirrorStoreError` if an earlier run has not left it yet.
    public func openStaging() async throws(MirrorStoreError) -> any MirrorStaging {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = true }
            return state.isOpen
        }
        guard !wasOpen else {
            throw MirrorStoreError(place: "The mirror", explanation: "is being created by another run.")
        }
        return Staging(store: self)
    }

    private func saver(of item: MirroredItem) -> InMemoryDataSaver {
        state.withLock { state in
            let saver = state.savers[item] ?? InMemoryDataSaver()
            state.savers[item] = saver
            return saver
        }
    }

    private func publish(_ items: [MirroredItem]) {
        state.withLock { state in
            let before = state.published
            state.published = [:]
            for item in items {
                guard let copy = state.staged[item] ?? before[item]?.copy else { continue }
                state.published[item] = (copy, state.savers[item]?.saved ?? before[item]?.bytes ?? [])
            }
            state.publishedCount += 1
        }
    }
}
