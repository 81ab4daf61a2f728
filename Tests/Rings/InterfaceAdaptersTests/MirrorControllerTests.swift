import Entities
import InwardCore
import InwardTesting
import InwardTransfers
import TestSupport
import Testing
import UseCases
import UseCasesTesting

@testable import InterfaceAdapters

struct MirrorControllerTests {
    private struct Source: MirrorSource {
        let items: [MirroredItem: InMemoryDataLoader]

        func loader(of item: MirroredItem) -> any DataLoader {
            items[item]
                ?? InMemoryDataLoader([]) { (_, _) throws(DataLoaderError) in
                    throw DataLoaderError(source: "It", explanation: "is not there", meansAbsence: true)
                }
        }
    }

    private let clock = ManualClock()
    private let store: InMemoryMirrorStore

    init() throws {
        store = InMemoryMirrorStore(
            users: InMemoryUserRepository([try .example(1), try .example(2)]),
            posts: InMemoryPostRepository([try .example()])
        )
    }

    private func loader(_ bytes: [UInt8], _ name: String, takes time: Duration = .zero) -> InMemoryDataLoader {
        InMemoryDataLoader(bytes, source: name) { [clock] _, _ in clock.advance(by: time) }
    }

    private func controller(_ items: [MirroredItem: InMemoryDataLoader]) -> MirrorController {
        MirrorController(
            createMirror: CreateMirror(from: Source(items: items), in: store),
            source: "the sample",
            directory: "mirror",
            stopwatch: Stopwatch(clock)
        )
    }

    @Test func summaryNamesTheContentsAndTheDuration() async throws {
        let avatar = MirroredItem.avatar(User.ID(1))
        let controller = controller([
            .users: loader([1], "users", takes: .seconds(2)), .posts: loader([2], "posts"),
            avatar: loader([3], "avatar"),
        ])
        clock.advance(by: .seconds(100))
        var lines: [String] = []
        let first = try await controller { lines.append($0) }
        // The users were requested twice: to copy them, and to check that they are unchanged.
        #expect(
            first.line == """
                Mirrored the sample into mirror in 4 s: 2 users, 1 posts, 1 images. 0 of 3 files were already up to date.
                """
        )
        #expect(lines == [2, 3, 4].map { "Mirroring \(ProgressBar(done: $0, total: 4))" })
        #expect(try await controller().line.hasSuffix("3 of 3 files were already up to date."))
    }

    @Test func failureIsPresentedWithAdvice() async throws {
        let controller = controller([.posts: loader([2], "posts")])
        let failure = await #expect(throws: FailureViewModel.self) { _ = try await controller() }
        #expect(
            failure
                == FailureViewModel(
                    "The upstream could not be mirrored: It is not there",
                    advice: "Run it again to resume: it reuses the files that were copied."
                )
        )
    }

    @Test func itemsHavePathsAndFileNames() throws {
        let items: [MirroredItem] = [.users, .posts, .avatar(User.ID(7))]
        #expect(items.map(\.path) == ["users", "posts", "avatars/7.jpg"])
        #expect(items.map(\.fileName) == ["users.json", "posts.json", "avatars/7.jpg"])
    }

    /// The upstream does not support byte ranges, so each item is read as a whole.
    @Test(arguments: [(MirroredItem.users, 2_000_000), (.posts, 2_000_000), (.avatar(User.ID(7)), 1_500_000)])
    func listsAndImagesHaveSeparateLimits(item: MirroredItem, limit: Int) async throws {
        let server = InMemoryWebDataFetcher([])
        let limits = MirrorLimits(maximumListByteCount: 2_000_000, maximumImageByteCount: 1_500_000)
        let source = RepositoryMirrorSource(upstream: try .example(server), limits: limits)
        let loader = source.loader(of: item)
        let path = try #require(loader.source).split(separator: "/").suffix(item.path.split(separator: "/").count)
        #expect(path.joined(separator: "/") == item.path)
        for count in [limit, limit + 1] {
            server["/api/\(item.path)"] = [UInt8](repeating: 1, count: count)
            let chunk = try? await loader.chunk(at: 0, of: nil)
            #expect(chunk?.chunk.bytes.count == (count > limit ? nil : count))
        }
    }
}
