import Entities
import InwardImages
import TestSupport
import Testing
import UseCasesTesting

@testable import UseCases

struct ShowGalleryTests {
    private let source = SketchSource([
        "1": SketchCodec.bytes(4, 4), "2": SketchCodec.bytes(2, 2), "other": SketchCodec.bytes(3, 3),
    ])
    private let users: [User]

    init() throws {
        users = [try User.example(2, name: "Ada"), try User.example(1, name: "Bob")]
    }

    private func gallery(
        of users: [User],
        progress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> Gallery {
        let plain = ImageLoader(source: source, codec: SketchCodec(), timer: .still)
        var rescued = plain
        rescued.addPlugin(Rescue())
        let show = ShowGallery(
            users: ListUsers(users: InMemoryUserRepository(users)),
            loaders: [GalleryLoader("plain", plain), GalleryLoader("rescued", rescued)],
            codec: SketchCodec(),
            others: [("Other", "other"), ("Nobody", "nobody")]
        ) { ImageAddress("\($0.rawValue)") }
        return try await show(progress: progress)
    }

    @Test func usersAreSortedByNameAndFollowedByTheOthers() async throws {
        let gallery = try await gallery(of: users)
        #expect(gallery.loaders == ["plain", "rescued"])
        #expect(gallery.rows.map(\.title) == ["Ada", "Bob", "Other", "Nobody"])
        #expect(gallery.rows.map(\.address) == ["2", "1", "other", "nobody"])
    }

    @Test func eachLoaderProducesItsImage() async throws {
        let rows = try await gallery(of: users).rows
        let sizes = rows.map { row in row.exhibits.map { (try? $0.image.get())?.size.width } }
        #expect(sizes == [[2, 2], [4, 4], [3, 3], [nil, 1]])
        guard case .failure(let error) = rows[3].exhibits[0].image else {
            Issue.record("An image was loaded from an address where nothing exists.")
            return
        }
        #expect(error.reason == .notFound)
    }

    @Test func sourceImageIsFetchedOnceForAllLoaders() async throws {
        _ = try await gallery(of: users)
        #expect(source.asked.sorted { $0.rawValue < $1.rawValue } == ["1", "2", "nobody", "other"])
    }

    @Test func progressIsReportedAfterEachImage() async throws {
        var told: [[Int]] = []
        _ = try await gallery(of: users) { done, total in told.append([done, total]) }
        #expect(told == (1...8).map { [$0, 8] })
    }

    @Test(.timeLimit(.minutes(5))) func atMostSixteenImagesAreLoadedConcurrently() async throws {
        let source = CountingImageSource(gathering: 16)
        let show = ShowGallery(
            users: ListUsers(users: InMemoryUserRepository([])),
            loaders: [GalleryLoader("plain", ImageLoader(source: source, codec: SketchCodec(), timer: .still))],
            codec: SketchCodec(),
            others: (0..<48).map { ("\($0)", ImageAddress("\($0)")) }
        ) { ImageAddress("\($0.rawValue)") }
        _ = try await show()
        #expect(source.maximumAtOnce == 16)
    }

    @Test func allImagesAreLoadedEvenIfThereAreMoreThanSixteen() async throws {
        let users = try (1...40).map { try User.example($0, name: "\($0)") }
        let gallery = try await gallery(of: users)
        #expect(gallery.rows.count == 42 && gallery.rows.allSatisfy { $0.exhibits.count == 2 })
    }
}
