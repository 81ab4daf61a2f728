import Foundation
import Infrastructure
import LoopbackServer
import Testing

@testable import inward

@Suite(.timeLimit(.minutes(5)))
struct QuickLookTests {
    private let output = Texts()
    private let errors = Texts()

    private func run(_ arguments: String...) async -> ExitCode {
        let (output, errors) = (output, errors)
        return await quickLook(
            StandardOutput { output.append($0) },
            StandardError(isTerminal: false) { errors.append($0) }
        ).run(arguments)
    }

    private func quickLook(
        _ standardOutput: StandardOutput,
        _ standardError: StandardError,
        interruptions: @escaping @Sendable () -> AsyncStream<Void> = { AsyncStream { $0.finish() } }
    ) -> QuickLook {
        QuickLook(
            terminal: Terminal(standardOutput: standardOutput, standardError: standardError),
            interruptions: interruptions,
            patience: .seconds(3_600)
        )
    }

    /// Returns the last line on standard error when the upstream gives this answer to every request.
    private func complaint(about answer: LoopbackAnswer) async throws -> String {
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        #expect(await run(server.url().absoluteString) == .failure)
        #expect(output.all.isEmpty)
        let lines = errors.all.split(separator: "\n")
        #expect(lines.count == 2)
        return String(lines.last ?? "").replacing(":\(server.port)", with: "")
    }

    @Test func sampleIsShown() async {
        #expect(await run() == .success)
        #expect(output.all.hasPrefix("Users\n=====\n\nID  Name"))
        #expect(output.all.contains("Feed: 20 of 100 posts, the newest first\n"))
        #expect(
            output.all.contains(
                "\nRead 10 users (from upstream) and 100 posts (from upstream) of the built-in sample in "
            )
        )
        #expect(errors.all == "Loading users and posts from the built-in sample …\n")
    }

    @Test func progressIsClearedOnATerminal() async {
        let (output, errors) = (output, errors)
        let quickLook = self.quickLook(
            StandardOutput { output.append($0) },
            StandardError(isTerminal: true) { errors.append($0) }
        )
        #expect(await quickLook.run([]) == .success)
        let startOfEmptyLine = "\r\u{1B}[2K"
        let progress = "Loading users and posts from the built-in sample …"
        #expect(errors.all == startOfEmptyLine + progress + startOfEmptyLine)
    }

    @Test func helpIsShownAndNothingElseHappens() async {
        #expect(await run("--help") == .success)
        #expect(output.all == Arguments.usage)
        #expect(errors.all.isEmpty)
    }

    @Test(arguments: ["--nonsense", "ftp://example.org", "/nowhere/at/all", "http://"])
    func invalidUsageIsReportedWithTheHelp(argument: String) async {
        #expect(await run(argument) == .usage)
        #expect(output.all.isEmpty)
        #expect(errors.all.hasPrefix("inward: "))
        #expect(errors.all.hasSuffix(Arguments.usage))
    }

    @Test(arguments: [
        ("users", "Users\n=====\n\nID  Name"), ("users/7", "Colette Lachance\n================\n"),
        ("users/7/posts", "Feed: 10 of 10 posts, the newest first\n"), ("posts/after/81", "  80  "),
    ])
    func destinationIsShown(place: String, text: String) async {
        #expect(await run("--open", place) == .success)
        #expect(output.all.contains(text))
        #expect(output.all.contains("--open users/7"))
        #expect(errors.all == "Loading \(place) from the built-in sample …\n")
    }

    @Test func missingDestinationIsAFailure() async {
        #expect(await run("--open", "users/77") == .failure)
        #expect(output.all.isEmpty)
        #expect(errors.all.hasSuffix("inward: There is no user 77. List the users to see who there is.\n"))
    }

    @Test func failingUpstreamIsReportedInOneLine() async throws {
        #expect(
            try await complaint(about: .whole(status: 503, headerLines: ["Retry-After: 120"])) == """
                inward: The users could not be listed: GET http://127.0.0.1/users was answered with \
                503 Service Unavailable (1 attempt, the upstream asked to wait 120 seconds). Try again in 120 s.
                """
        )
    }

    @Test func truncatedResponseIsReported() async throws {
        #expect(try await complaint(about: .cutOff(promised: 500, sent: 100)).contains("got no complete response"))
    }

    @Test func garbageIsReportedWithoutAffectingTheTerminal() async throws {
        let garbage = Array("<html>\u{1B}[2J".utf8)
        #expect(try await complaint(about: .whole(body: garbage)).contains(#"it begins with “<html>\u{1B}[2J”"#))
    }

    @Test func failedOutputIsAFailure() async {
        struct Full: Error {}
        let errors = errors
        let quickLook = self.quickLook(
            StandardOutput { _ in throw Full() },
            StandardError(isTerminal: true) { errors.append($0) }
        )
        #expect(await quickLook.run([]) == .failure)
        #expect(errors.all.contains("inward: The output cannot be written"))
        // The progress line is cleared.
        #expect(errors.all.contains("sample …\r\u{1B}[2K"))
    }

    @Test func overviewIsWrittenToFiles() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path(percentEncoded: false)
        #expect(await run("--output", path) == .success)
        let page = try String(contentsOf: directory.appending(path: "index.html"), encoding: .utf8)
        let json = try String(contentsOf: directory.appending(path: "index.json"), encoding: .utf8)
        let gallery = try String(contentsOf: directory.appending(path: "gallery.html"), encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>"))
        #expect(gallery.contains("Loaded 32 of 36 images from the built-in sample"))
        #expect(errors.all.contains("Loading images …\n"))
        #expect(!errors.all.contains("36 of 36"), "progress is for terminals")
        #expect(json.hasPrefix("{\n  \"_generator\" : \"inward\",\n"))
        try Data("mine".utf8).write(to: directory.appending(path: "index.html"))
        #expect(await run("--output", path) == .failure)
        #expect(try String(contentsOf: directory.appending(path: "index.html"), encoding: .utf8) == "mine")
    }
}
