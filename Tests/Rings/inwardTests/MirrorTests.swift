import Foundation
import Infrastructure
import InwardFetching
import LoopbackServer
import Testing

@testable import inward

@Suite(.timeLimit(.minutes(5)))
struct MirrorTests {
    private let output = Texts()
    private let errors = Texts()
    private let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")

    private var mirror: String { directory.appending(path: "mirror").path(percentEncoded: false) }

    private func run(
        _ arguments: String...,
        interruptions: @escaping @Sendable () -> AsyncStream<Void> = { AsyncStream { $0.finish() } }
    ) async -> ExitCode {
        let (output, errors) = (output, errors)
        return await QuickLook(
            terminal: Terminal(
                standardOutput: StandardOutput { output.append($0) },
                standardError: StandardError(isTerminal: false) { errors.append($0) }
            ),
            interruptions: interruptions,
            patience: .seconds(3_600)
        ).run(arguments)
    }

    /// Returns the answers of a server with the sample, which supports entity tags but no ranges.
    private static func answers() async throws -> [String: LoopbackAnswer] {
        var answers: [String: LoopbackAnswer] = [:]
        for path in ["users", "posts"] + (1...10).map({ "avatars/\($0).jpg" }) {
            let body = try await SampleDataFetcher().fetchData(from: SampleDataFetcher.baseURL.appending(path: path))
            answers["/\(path)"] = .whole(headerLines: ["ETag: \"\(body.count)\""], body: [UInt8](body))
        }
        return answers
    }

    private static func answer(_ request: LoopbackRequest, of answers: [String: LoopbackAnswer]) -> LoopbackAnswer {
        guard case .whole(let status, let lines, let body)? = answers[request.target] else {
            return .whole(status: 404)
        }
        let tag = lines.first.map { String($0.dropFirst("ETag: ".count)) }
        if let tag, request.values(of: "if-none-match") == [tag] { return .whole(status: 304, headerLines: lines) }
        return .whole(status: status, headerLines: lines, body: body)
    }

    @Test func sampleIsMirroredAndServed() async {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(await run("--mirror", mirror) == .success)
        #expect(output.all.hasPrefix("Mirrored the built-in sample into \(mirror) in "))
        #expect(
            output.all.hasSuffix(
                ": 10 users, 100 posts, 10 images. 0 of 12 files were already up to date.\n"
            )
        )
        #expect(errors.all == "Mirroring the built-in sample …\n")
        let images = directory.appending(path: "images").path(percentEncoded: false)
        #expect(await run(mirror, "--output", images) == .success)
        #expect(
            output.all.contains(
                "Read 10 users (from upstream) and 100 posts (from upstream) of the directory \(mirror)"
            )
        )
        let gallery = try? String(contentsOf: URL(filePath: images).appending(path: "gallery.html"), encoding: .utf8)
        #expect(gallery?.contains("Loaded 32 of 36 images from the directory") == true)
    }

    @Test func interruptedMirrorIsNotPublished() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let answers = try await Self.answers()
        let mirror = mirror
        try await LoopbackServer.serving { request in
            request.target == "/avatars/5.jpg" ? .never : Self.answer(request, of: answers)
        } test: { server in
            let (interruptions, interrupt) = AsyncStream.makeStream(of: Void.self)
            async let exitCode = run(server.url().absoluteString, "--mirror", mirror) { interruptions }
            for await event in server.events where event == .waiting("/avatars/5.jpg") {
                interrupt.yield()
                break
            }
            #expect(await exitCode == .failure)
            #expect(errors.all.hasSuffix("Run it again to resume: it reuses the files that were copied.\n"))
            #expect(!FileManager.default.fileExists(atPath: mirror))
        }
    }

    @Test func nextRunFetchesOnlyMissingFiles() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let answers = try await Self.answers()
        let isWhole = LoopbackSwitch()
        try await LoopbackServer.serving { request in
            request.target == "/avatars/5.jpg" && !isWhole.isOn
                ? .whole(status: 403) : Self.answer(request, of: answers)
        } test: { server in
            #expect(await run(server.url().absoluteString, "--mirror", mirror) == .failure)
            #expect(errors.all.contains("/avatars/5.jpg was answered with 403 Forbidden. Run it again to resume"))
            isWhole.turnOn()
            let before = server.requests.count
            #expect(await run(server.url().absoluteString, "--mirror", mirror) == .success)
            #expect(output.all.contains("10 images. 6 of 12 files were already up to date."))
            // Users and posts are validated at the beginning and at the end.
            let known = server.requests.dropFirst(before).filter { !$0.values(of: "if-none-match").isEmpty }
            #expect(
                known.map(\.target) == [
                    "/users", "/posts", "/avatars/1.jpg", "/avatars/2.jpg", "/avatars/3.jpg", "/avatars/4.jpg",
                    "/users", "/posts",
                ]
            )
        }
    }

    @Test func directoryWithForeignFilesIsRejected() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: URL(filePath: mirror), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: mirror).appending(path: "users.json"))
        #expect(await run("--mirror", mirror) == .failure)
        #expect(
            errors.all.hasSuffix(
                """
                inward: The mirror could not be stored. “\(mirror)” contains “users.json”, which does not belong to a mirror \
                and is kept. Choose another directory, or move “users.json” away.

                """
            )
        )
        #expect(try Data(contentsOf: URL(filePath: mirror).appending(path: "users.json")) == Data("mine".utf8))
    }
}
