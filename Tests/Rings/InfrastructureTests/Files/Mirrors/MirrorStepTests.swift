import Foundation
import InterfaceAdapters
import InwardRepositories
import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness
import UseCases

@testable import Infrastructure

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Links and files planted between two steps of creating a mirror.
struct MirrorStepTests {
    private let directory: TemporaryDirectory
    private let server = InMemoryWebDataFetcher.mirrored()

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("secret", to: "outside/users.json")
        try directory.write("secret", to: "outside/avatars/1.jpg")
        try directory.write("secret", to: "outside/lock")
    }

    private var mirror: URL { directory.url.appending(path: "mirror", directoryHint: .isDirectory) }
    private static let staging = ".mirror.inward-mirror"

    private func makeMirror(
        canExchange: Bool = true,
        reach: @escaping @Sendable (MirrorStep) -> Void = { _ in }
    ) async throws(CreateMirrorError) {
        let upstream = Upstream(baseURL: URL(filePath: "/"), dataFetcher: server)
        let places = MirrorPlaces(directory: mirror, canExchange: canExchange, reach: reach)
        let make = CreateMirror(from: RepositoryMirrorSource(upstream: upstream), in: MirrorDirectory(places))
        _ = try await make()
    }

    /// Checks that the files outside the mirror are unchanged.
    private func expectOutsideUntouched(_ comment: Comment? = nil) throws {
        let path = directory.url.appending(path: "outside").path(percentEncoded: false)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
        #expect(paths == ["avatars", "avatars/1.jpg", "lock", "users.json"], comment)
        for file in paths where file != "avatars" {
            #expect(try directory.contents(of: "outside/\(file)") == "secret", comment)
        }
    }

    @Test(arguments: MirrorStep.allCases)
    func linksPlantedBetweenStepsChangeNothingOutside(step: MirrorStep) async throws {
        // The old mirror is moved away only on file systems that cannot exchange directories.
        let canExchange = step != .moved
        let places = [
            "mirror", "mirror/avatars", Self.staging, "\(Self.staging)/copy", "\(Self.staging)/copy/avatars",
            "\(Self.staging)/copy/users.json", "\(Self.staging)/copy/.users.json.inward-part",
            "\(Self.staging)/previous", "\(Self.staging)/list",
        ]
        var plantedCount = 0
        for place in Thoroughness.sample(places, every: 5) {
            for isThere in [false, true] {
                for name in ["mirror", Self.staging] {
                    // Without a trailing slash, so that a link is removed instead of its target.
                    let path = directory.url.appending(path: name, directoryHint: .notDirectory)
                    try? FileManager.default.removeItem(at: path)
                }
                if isThere { try await makeMirror() }
                // A new version, so that there is something to copy.
                server["/avatars/1.jpg"] = [1, 2, 4]
                let planted = Mutex(false)
                let url = directory.url
                let outside = url.appending(path: place.contains("users.json") ? "outside/users.json" : "outside")
                let target = outside.path(percentEncoded: false)
                try? await makeMirror(canExchange: canExchange) { reached in
                    guard reached == step,
                        planted.withLock({ isDone in
                            defer { isDone = true }; return !isDone
                        })
                    else { return }
                    let entry = url.appending(path: place).path(percentEncoded: false)
                    // Move it aside, as an attacker with write permission would, and replace it with a link.
                    try? FileManager.default.moveItem(atPath: entry, toPath: "\(url.path(percentEncoded: false))/aside")
                    try? FileManager.default.createSymbolicLink(atPath: entry, withDestinationPath: target)
                }
                plantedCount += planted.withLock(\.self) ? 1 : 0
                try expectOutsideUntouched("\(place) at \(step), with an old mirror: \(isThere)")
                try? FileManager.default.removeItem(at: url.appending(path: "aside"))
            }
        }
        // The last steps are reached only if there is an old mirror.
        #expect(plantedCount >= Thoroughness.sample(places, every: 5).count)
    }

    /// The old mirror stays if a foreign file is added to it after the last check.
    @Test func foreignFileAddedToTheOldMirrorAtTheLastMomentIsKept() async throws {
        for (step, canExchange) in [(MirrorStep.publishing, true), (.publishing, false), (.exchanged, true)] {
            try? FileManager.default.removeItem(at: mirror)
            try await makeMirror()
            server["/avatars/1.jpg"] = [9]
            let (url, name) = (directory.url, step == .exchanged ? "\(Self.staging)/copy" : "mirror")
            let error = await #expect(throws: CreateMirrorError.self) {
                try await makeMirror(canExchange: canExchange) { reached in
                    guard reached == step else { return }
                    try? Data("mine".utf8).write(to: url.appending(path: "\(name)/notes.txt"))
                }
            }
            #expect("\(String(describing: error))".contains("notes.txt"))
            #expect(try directory.contents(of: "mirror/notes.txt") == "mine")
            server["/avatars/1.jpg"] = [1, 2, 3]
        }
    }

    @Test func directoryReplacedAtTheLastMomentIsKept() async throws {
        try await makeMirror()
        server["/avatars/1.jpg"] = [9]
        let url = directory.url
        for canExchange in [true, false] {
            await #expect(throws: CreateMirrorError.self) {
                try await makeMirror(canExchange: canExchange) { reached in
                    guard reached == .publishing else { return }
                    try? FileManager.default.removeItem(at: url.appending(path: "aside"))
                    try? FileManager.default.moveItem(
                        at: url.appending(path: "mirror"),
                        to: url.appending(path: "aside")
                    )
                    try? FileManager.default.createDirectory(
                        at: url.appending(path: "mirror"),
                        withIntermediateDirectories: true
                    )
                    try? Data("mine".utf8).write(to: url.appending(path: "mirror/mine.txt"))
                }
            }
            #expect(try directory.contents(of: "mirror/mine.txt") == "mine")
            try FileManager.default.removeItem(at: mirror)
            try FileManager.default.moveItem(at: url.appending(path: "aside"), to: mirror)
        }
    }

    @Test func onlyTheOwnerCanWriteToTheDirectories() async throws {
        let modes = Mutex<[String: mode_t]>([:])
        let url = directory.url
        try await makeMirror { step in
            guard step == .listing else { return }
            for name in [Self.staging, "\(Self.staging)/copy", "\(Self.staging)/copy/users.json"] {
                let path = url.appending(path: name).path(percentEncoded: false)
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                let mode = (attributes?[.posixPermissions] as? NSNumber)?.uint32Value ?? 0
                modes.withLock { $0[name] = mode_t(mode) }
            }
        }
        let found = modes.withLock(\.self)
        #expect(found[Self.staging] == 0o700)
        #expect(found.count == 3)
        #expect(found.values.allSatisfy { $0 & 0o022 == 0 })
    }

    /// Other users who can write to a file could change it after the check.
    @Test func fileThatOthersCanWriteIsCopiedAgain() async throws {
        try await makeMirror()
        let path = mirror.appending(path: "avatars/1.jpg").path(percentEncoded: false)
        let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? NSNumber
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        try await makeMirror()
        let after = try FileManager.default.attributesOfItem(atPath: path)
        #expect(after[.systemFileNumber] as? NSNumber != before)
        #expect(((after[.posixPermissions] as? NSNumber)?.intValue ?? 0o777) & 0o022 == 0)
    }
}
