import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import UseCases

@testable import Infrastructure

struct MirrorDirectoryTests {
    private let directory: TemporaryDirectory
    private let server = InMemoryWebDataFetcher()

    init() throws {
        directory = try TemporaryDirectory()
        server["/users"] = try list("users")
        server["/posts"] = try list("posts")
        server["/avatars/1.jpg"] = [1, 2, 3]
        server["/avatars/2.jpg"] = [4, 5, 6]
    }

    private func list(_ name: String) throws -> [UInt8] {
        let sample = name == "users" ? PackageResources.users_json : PackageResources.posts_json
        return sample
    }

    private var mirror: URL { directory.url.appending(path: "mirror", directoryHint: .isDirectory) }

    private var paths: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: directory.url.path(percentEncoded: false)).sorted()
        }
    }

    private let whole = [
        "mirror", "mirror/.inward-mirror", "mirror/avatars", "mirror/avatars/1.jpg", "mirror/avatars/2.jpg",
        "mirror/posts.json", "mirror/users.json",
    ]

    @discardableResult
    private func makeMirror(
        from fetcher: (any DataFetcher)? = nil,
        canExchange: Bool = true
    ) async throws(CreateMirrorError) -> MirrorReport {
        let upstream = Upstream(baseURL: URL(filePath: "/"), dataFetcher: fetcher ?? server)
        return try await CreateMirror(
            from: RepositoryMirrorSource(upstream: upstream),
            in: MirrorDirectory(MirrorPlaces(directory: mirror, canExchange: canExchange))
        )()
    }

    /// Interrupts a run at the second image, after everything else was copied.
    private func interruptRun() async throws {
        let server = server
        let failing = StubDataFetcher { (request) async throws(FetchError) in
            guard !request.url.path().hasSuffix("2.jpg") else {
                throw FetchError(.interrupted, request: request, explanation: "broke")
            }
            return try await server.fetch(request)
        }
        await #expect(throws: CreateMirrorError.self) { try await makeMirror(from: failing) }
    }

    @Test(arguments: [true, false]) func mirrorIsServedLikeTheUpstream(canExchange: Bool) async throws {
        for _ in 0..<2 {
            let report = try await makeMirror(canExchange: canExchange)
            #expect(report.userCount == 10)
            #expect(report.avatarCount == 2)
            #expect(try paths == whole)
            let fetcher = try FileDataFetcher(directory: mirror)
            let upstream = Upstream(baseURL: mirror, dataFetcher: fetcher)
            #expect(try await UpstreamUserRepository(upstream: upstream).users(.cacheFirst).value.count == 10)
            #expect(try await UpstreamPostRepository(upstream: upstream).posts(.cacheFirst).value.count == 100)
            #expect(try await fetcher.fetchData(from: mirror.appending(path: "avatars/2.jpg")) == Data([4, 5, 6]))
            server["/avatars/1.jpg"] = [7]
        }
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/1.jpg")) == Data([7]))
    }

    @Test func emptyDirectoryBecomesAMirror() async throws {
        try FileManager.default.createDirectory(at: mirror, withIntermediateDirectories: true)
        try await makeMirror()
        #expect(try paths == whole)
    }

    @Test func oldMirrorStaysUntilTheNewOneIsComplete() async throws {
        try await makeMirror()
        let before = try Data(contentsOf: mirror.appending(path: ".inward-mirror"))
        server["/avatars/1.jpg"] = [7]
        server["/avatars/2.jpg"] = [8]
        try await interruptRun()
        #expect(try Data(contentsOf: mirror.appending(path: ".inward-mirror")) == before)
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/1.jpg")) == Data([1, 2, 3]))
        // The next run copies the rest.
        #expect(try await makeMirror().transferredCount == 1)
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/1.jpg")) == Data([7]))
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/2.jpg")) == Data([8]))
        #expect(try paths == whole)
    }

    @Test func damagedLeftoversAreCopiedAgain() async throws {
        try await interruptRun()
        #expect(!FileManager.default.fileExists(atPath: mirror.path(percentEncoded: false)))
        // Damage to a file, which its checksum reveals.
        try directory.write("[]", to: ".mirror.inward-mirror/copy/users.json")
        // An incomplete line, as a killed process leaves it.
        let list = directory.url.appending(path: ".mirror.inward-mirror/list")
        try (Data(contentsOf: list) + Data(#"{"copy":"#.utf8)).write(to: list)
        #expect(try await makeMirror().transferredCount == 2)
        #expect(try paths == whole)
    }

    @Test func leftoversOfOtherItemsAreRemoved() async throws {
        try await interruptRun()
        try directory.write("left by an earlier run", to: ".mirror.inward-mirror/copy/avatars/99.jpg")
        try await interruptRun()
        #expect(try !paths.contains { $0.hasSuffix("/99.jpg") })
        #expect(try paths.contains { $0.hasSuffix("1.jpg") })
    }

    @Test func damagedFileOfTheMirrorIsCopiedAgain() async throws {
        try await makeMirror()
        try directory.write("damaged", to: "mirror/avatars/2.jpg")
        #expect(try await makeMirror().transferredCount == 1)
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/2.jpg")) == Data([4, 5, 6]))
    }

    @Test func deletedItemsAreRemovedFromTheMirror() async throws {
        try await makeMirror()
        server["/avatars/2.jpg"] = nil
        #expect(try await makeMirror().avatarCount == 1)
        #expect(try paths == whole.filter { $0 != "mirror/avatars/2.jpg" })
    }

    @Test(arguments: ["mirror/notes.txt", "mirror/users.json", "mirror/avatars/notes.txt", "mirror"])
    func directoryWithForeignFilesIsNotChanged(path: String) async throws {
        try directory.write("mine", to: path)
        let before = try paths
        let error = await #expect(throws: CreateMirrorError.self) { try await makeMirror() }
        guard case .unkept(let cause) = error else {
            Issue.record("Unexpected error: \(String(describing: error))")
            return
        }
        #expect(cause.description.contains("Choose another"))
        #expect(try paths == before)
        #expect(try directory.contents(of: path) == "mine")
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["mirror/notes.txt", "mirror/avatars/notes.txt"])
    func mirrorWithAForeignFileIsNotChanged(path: String) async throws {
        try await makeMirror()
        try directory.write("mine", to: path)
        await #expect(throws: CreateMirrorError.self) { try await makeMirror() }
        #expect(try paths == (whole + [path]).sorted())
    }

    @Test func foreignFileAddedDuringMirroringIsKept() async throws {
        try await makeMirror()
        let (server, directory) = (server, directory)
        server["/avatars/2.jpg"] = [8]
        let path = directory.url.appending(path: "mirror/notes.txt")
        let fetcher = StubDataFetcher { (request) async throws(FetchError) in
            try? Data("mine".utf8).write(to: path)
            return try await server.fetch(request)
        }
        await #expect(throws: CreateMirrorError.self) { try await makeMirror(from: fetcher) }
        #expect(try directory.contents(of: "mirror/notes.txt") == "mine")
    }

    @Test func onlyOneProcessCreatesAMirrorAtATime() async throws {
        let staging = try await MirrorDirectory(directory: mirror).openStaging()
        let error = await #expect(throws: MirrorStoreError.self) {
            try await MirrorDirectory(directory: mirror).openStaging()
        }
        #expect(error?.explanation == "is being written by another process. Wait until it has finished.")
        await staging.leave()
        _ = try await MirrorDirectory(directory: mirror).openStaging()
        // Left, but not yet released, as when another thread still has a reference to it.
        withExtendedLifetime(staging) {}
    }

    /// The state after a process was killed between moving the old mirror away and moving the new one into place.
    @Test func mirrorThatWasMovedAwayIsRestored() async throws {
        try await makeMirror()
        let staging = directory.url.appending(path: ".mirror.inward-mirror")
        try FileManager.default.createDirectory(at: staging, withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: mirror, to: staging.appending(path: "previous"))
        server["/avatars/2.jpg"] = [8]
        try await interruptRun()
        #expect(try Data(contentsOf: mirror.appending(path: "avatars/2.jpg")) == Data([4, 5, 6]))
        #expect(try await makeMirror().transferredCount == 1)
        #expect(try paths == whole)
    }

    /// The state after a process was killed right after exchanging both mirrors.
    @Test func leftoverOldMirrorIsRemoved() async throws {
        try await makeMirror()
        try directory.write("[]", to: ".mirror.inward-mirror/copy/users.json")
        try directory.write("[]", to: ".mirror.inward-mirror/copy/.users.json.inward-part")
        #expect(try await makeMirror().transferredCount == 0)
        #expect(try paths == whole)
    }

    @Test func linkInPlaceOfTheStagingDirectoryIsRejected() async throws {
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "elsewhere"),
            withIntermediateDirectories: true
        )
        try directory.link(".mirror.inward-mirror", to: "elsewhere")
        await #expect(throws: CreateMirrorError.self) { try await makeMirror() }
        #expect(try paths == [".mirror.inward-mirror", "elsewhere"])
    }

    @Test func invalidListIsNotPublished() async throws {
        try await makeMirror()
        server["/posts"] = Array("<html>".utf8)
        await #expect(throws: CreateMirrorError.self) { try await makeMirror() }
        #expect(try Data(contentsOf: mirror.appending(path: "posts.json")) == Data(list("posts")))
    }
}
