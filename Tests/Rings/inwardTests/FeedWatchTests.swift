import Foundation
import Infrastructure
import LoopbackServer
import Synchronization
import Testing

@testable import inward

@Suite(.timeLimit(.minutes(5)))
struct FeedWatchTests {
    private static let posts = #"[{"userId": 7, "id": 1, "title": "Notes", "body": "On the engine."}]"#

    /// The status that the upstream answers with.
    private final class Status: Sendable {
        let code = Mutex(200)
    }

    private let status = Status()
    private let errors = Texts()

    /// Runs the command, and interrupts it after the first drawing for which `isLast` returns `true`.
    private func run(
        _ arguments: [String],
        isTerminal: Bool = false,
        untilDrawn isLast: (String) -> Bool
    ) async throws -> ExitCode {
        let server = try LoopbackServer { [status] request in
            let body = request.target == "/posts" ? Self.posts : "[]"
            return .whole(status: status.code.withLock(\.self), body: Array(body.utf8))
        }
        defer { server.stop() }
        let (drawings, draw) = AsyncStream.makeStream(of: String.self)
        let (interruptions, interrupt) = AsyncStream.makeStream(of: Void.self)
        let quickLook = QuickLook(
            terminal: Terminal(
                standardOutput: StandardOutput(isTerminal: isTerminal) { draw.yield($0) },
                standardError: StandardError(isTerminal: false) { [errors] in errors.append($0) }
            ),
            interruptions: { interruptions },
            patience: .seconds(3_600)
        )
        let address = server.url().absoluteString
        async let exitCode = quickLook.run([address] + arguments)
        for await drawing in drawings where isLast(drawing) { break }
        interrupt.yield()
        return await exitCode
    }

    @Test func lastPostsStayAndFailureAndRecoveryAreShown() async throws {
        var drawings: [String] = []
        let exitCode = try await run(["--watch", "1"]) { drawing in
            drawings.append(drawing)
            switch drawings.count {
            case 1: status.code.withLock { $0 = 501 }
            case 2: status.code.withLock { $0 = 200 }
            default: return true
            }
            return false
        }
        #expect(exitCode == .success)
        #expect(drawings.allSatisfy { $0.contains("Notes") })
        #expect(drawings[0].contains("Read 1 posts (from upstream).\n"))
        #expect(drawings[1].contains("The feed could not be read: GET "))
        #expect(drawings[1].contains("The posts above are from the last successful load.\n"))
        #expect(drawings[2] == drawings[0])
        #expect(errors.all.contains("inward: The feed could not be read: GET "))
    }

    @Test func droppedRepeatsAreReportedWhenTheAppIsClosed() async throws {
        status.code.withLock { $0 = 501 }
        var failures = 0
        let exitCode = try await run(["--watch", "1"]) { drawing in
            failures += drawing.contains("The feed could not be read") ? 1 : 0
            return failures == 2
        }
        #expect(exitCode == .success)
        #expect(errors.all.contains("(and once more within 60.0 seconds)"))
    }

    @Test func drawingsReplaceEachOtherOnATerminal() async throws {
        let exitCode = try await run(["--watch", "1"], isTerminal: true) { drawing in
            #expect(drawing.hasPrefix("\u{1B}[H"))
            #expect(drawing.hasSuffix("\u{1B}[J"))
            return drawing.contains("Read 1 posts")
        }
        #expect(exitCode == .success)
        #expect(errors.all.isEmpty)
    }

    @Test func failedOutputIsAFailure() async {
        struct Full: Error {}
        let quickLook = QuickLook(
            terminal: Terminal(
                standardOutput: StandardOutput { _ in throw Full() },
                standardError: StandardError(isTerminal: false) { _ in }
            ),
            interruptions: { AsyncStream { _ in } },
            patience: .seconds(3_600)
        )
        #expect(await quickLook.run(["--watch", "1"]) == .failure)
    }
}
