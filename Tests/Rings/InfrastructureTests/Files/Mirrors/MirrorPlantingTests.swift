import Foundation
import InterfaceAdapters
import InwardFetching
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import Thoroughness
import UseCases

@testable import Infrastructure

/// Files and links that were planted at the location of a new mirror are rejected, and files elsewhere stay unchanged.
struct MirrorPlantingTests {
    private let directory: TemporaryDirectory
    private let server = InMemoryWebDataFetcher.mirrored()

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("precious", to: "elsewhere/users.json")
        try directory.write("precious", to: "elsewhere/precious")
    }

    private var mirror: URL { directory.url.appending(path: "mirror", directoryHint: .isDirectory) }

    /// The contents of all files outside the mirror.
    private var elsewhere: [String: String] {
        get throws {
            let path = directory.url.appending(path: "elsewhere").path(percentEncoded: false)
            return Dictionary(
                uniqueKeysWithValues: try FileManager.default.subpathsOfDirectory(atPath: path).map {
                    ($0, try directory.contents(of: "elsewhere/\($0)"))
                }
            )
        }
    }

    private static let precious = ["users.json": "precious", "precious": "precious"]

    private func makeMirror(
        from fetcher: (any DataFetcher)? = nil,
        canExchange: Bool = true
    ) async throws(CreateMirrorError) {
        let upstream = Upstream(baseURL: URL(filePath: "/"), dataFetcher: fetcher ?? server)
        _ = try await CreateMirror(
            from: RepositoryMirrorSource(upstream: upstream),
            in: MirrorDirectory(MirrorPlaces(directory: mirror, canExchange: canExchange))
        )()
    }

    /// Creates a mirror, and returns the error; `nil` on success.
    private func problem(from fetcher: (any DataFetcher)? = nil) async -> String? {
        do throws(CreateMirrorError) {
            try await makeMirror(from: fetcher)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Leaves the staging directory of an interrupted run.
    private func interruptRun() async {
        let server = server
        let failing = StubDataFetcher { (request) async throws(FetchError) in
            guard !request.url.path().hasSuffix("/2.jpg") else {
                throw FetchError(.interrupted, request: request, explanation: "broke")
            }
            return try await server.fetch(request)
        }
        #expect(await problem(from: failing) != nil)
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: directory.url.appending(path: path).path(percentEncoded: false)
        )
    }

    @Test(arguments: ["copy", "previous", "list", "lock", "copy/users.json", "copy/avatars", "copy/avatars/1.jpg"])
    func plantedLinkIsRejected(name: String) async throws {
        await interruptRun()
        let path = ".mirror.inward-mirror/\(name)"
        try? FileManager.default.removeItem(at: directory.url.appending(path: path))
        let target = name.hasSuffix(".json") ? "elsewhere/users.json" : "elsewhere"
        try directory.link(path, to: directory.url.appending(path: target).path(percentEncoded: false))
        #expect(await problem() != nil)
        #expect(try elsewhere == Self.precious)
        #expect(!FileManager.default.fileExists(atPath: mirror.path(percentEncoded: false)))
    }

    @Test(arguments: [".users.json.inward-part", ".users.json.inward-state", ".users.json.inward-state.new"])
    func plantedHardLinkIsNotWrittenTo(name: String) async throws {
        await interruptRun()
        server["/users"] = PackageResources.users_json + [10]
        try FileManager.default.linkItem(
            at: directory.url.appending(path: "elsewhere/precious"),
            to: directory.url.appending(path: ".mirror.inward-mirror/copy/\(name)")
        )
        _ = await problem()
        #expect(try elsewhere == Self.precious)
    }

    @Test(arguments: ["list", "lock"]) func plantedHardLinkIsRejected(name: String) async throws {
        await interruptRun()
        let path = directory.url.appending(path: ".mirror.inward-mirror/\(name)")
        try? FileManager.default.removeItem(at: path)
        try FileManager.default.linkItem(at: directory.url.appending(path: "elsewhere/precious"), to: path)
        #expect(await problem()?.contains("was not left by an interrupted run") == true)
        #expect(try elsewhere == Self.precious)
    }

    @Test(arguments: ["copy", "previous", "other"]) func plantedFileIsRejected(name: String) async throws {
        await interruptRun()
        let path = ".mirror.inward-mirror/\(name)"
        try? FileManager.default.removeItem(at: directory.url.appending(path: path))
        try directory.write("mine", to: path)
        let problem = await problem()
        #expect(problem?.contains("/\(name)” was not left by an interrupted run") == true)
        #expect(try directory.contents(of: path) == "mine")
    }

    @Test(arguments: [
        "copy/notes.txt", "copy/avatars/deep/notes.txt", "copy/other/notes.txt", "previous/notes.txt",
    ])
    func stagingDirectoryWithForeignFilesIsRejected(path: String) async throws {
        await interruptRun()
        try directory.write("mine", to: ".mirror.inward-mirror/\(path)")
        #expect(await problem()?.contains("was not left by an interrupted run") == true)
        #expect(try directory.contents(of: ".mirror.inward-mirror/\(path)") == "mine")
    }

    /// The permissions of a directory, and its path. A sample has each of them once.
    private static let openDirectories = [0o777, 0o775, 0o757].flatMap { mode in
        ["mirror", ".mirror.inward-mirror", ".mirror.inward-mirror/copy"].map { (mode, $0) }
    }

    @Test(arguments: Thoroughness.sample(openDirectories, every: 4))
    func directoryThatOthersCanWriteIsRejectedWithAdvice(mode: Int, path: String) async throws {
        try await makeMirror()
        server["/users"] = PackageResources.users_json + [10]
        await interruptRun()
        try setMode(mode, of: path)
        let problem = await problem()
        #expect(problem?.contains("can be written to by other users") == true)
        #expect(problem?.contains("`chmod go-w`") == true)
        try setMode(0o755, of: path)
        #expect(await self.problem() == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change the owner of a file."))
    func directoryOfAnotherUserIsRejectedWithAdvice() async throws {
        for path in ["mirror", ".mirror.inward-mirror", ".mirror.inward-mirror/copy"] {
            await interruptRun()
            try FileManager.default.createDirectory(at: mirror, withIntermediateDirectories: true)
            let item = directory.url.appending(path: path).path(percentEncoded: false)
            try FileManager.default.setAttributes([.ownerAccountID: 4_711], ofItemAtPath: item)
            let problem = await problem()
            #expect(problem?.contains("belongs to another user (4711)") == true)
            try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: item)
        }
    }

    @Test(arguments: ["users.json", "avatars", "avatars/1.jpg", ".inward-mirror"])
    func linkInTheMirrorIsRejected(name: String) async throws {
        try await makeMirror()
        try FileManager.default.removeItem(at: mirror.appending(path: name))
        let target = directory.url.appending(path: "elsewhere/users.json").path(percentEncoded: false)
        try directory.link("mirror/\(name)", to: target)
        #expect(await problem() != nil)
        #expect(try elsewhere == Self.precious)
    }

    /// Whether the file system can exchange directories, and what is replaced.
    private static let plantings = [true, false].flatMap { canExchange in
        ["copy", "copy/avatars", "copy/users.json", "list", "."].map { (canExchange, $0) }
    }

    /// The request for an image replaces a file or directory with a link during mirroring.
    @Test(arguments: Thoroughness.sample(plantings, every: 3))
    func linkPlantedDuringMirroringIsNotFollowed(canExchange: Bool, name: String) async throws {
        try await makeMirror()
        server["/avatars/1.jpg"] = [7]
        let staging = directory.url.appending(path: ".mirror.inward-mirror")
        let place = name == "." ? staging : staging.appending(path: name)
        let target = directory.url.appending(path: "elsewhere").path(percentEncoded: false)
        let (server, moved) = (server, directory.url.appending(path: "moved"))
        let fetcher = StubDataFetcher { (request) async throws(FetchError) in
            if request.url.path().hasSuffix("/1.jpg") {
                try? FileManager.default.moveItem(at: place, to: moved)
                try? FileManager.default.createSymbolicLink(
                    atPath: place.path(percentEncoded: false),
                    withDestinationPath: target
                )
            }
            return try await server.fetch(request)
        }
        try? await makeMirror(from: fetcher, canExchange: canExchange)
        #expect(try elsewhere == Self.precious)
        // Readers see a complete mirror, old or new, and not a link.
        let attributes = try FileManager.default.attributesOfItem(atPath: mirror.path(percentEncoded: false))
        #expect(attributes[.type] as? FileAttributeType == .typeDirectory)
    }
}
