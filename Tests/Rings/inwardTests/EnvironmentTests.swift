import Foundation
import LoopbackServer
import TestSupport
import Testing

/// The effect of environment variables on the program, which runs in a separate process.
@Suite(.timeLimit(.minutes(5)))
struct EnvironmentTests {
    private struct Ended {
        let output: String
        let errors: String
        let ending: ProgramRun.Ending
    }

    /// Runs the program on a separate thread, because waiting for it blocks.
    private func run(_ arguments: [String], environment: [String: String]) async throws -> Ended {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (input, errors) = (directory.appending(path: "input"), directory.appending(path: "errors"))
        for file in [input, errors] { try Data().write(to: file) }
        return try await withCheckedThrowingContinuation { continuation in
            // Resumed exactly once, by the thread.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let run = try ProgramRun(arguments, environment: environment, input: input, errors: errors)
                        var output = Data()
                        while case let part = run.read(), !part.isEmpty { output += part }
                        let ending = run.wait()
                        return Ended(
                            output: String(decoding: output, as: UTF8.self),
                            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self),
                            ending: ending
                        )
                    }
                )
            }
        }
    }

    @Test func proxiesOfTheEnvironmentAreIgnored() async throws {
        try await LoopbackServer.serving({ _ in .whole(body: Array("[]".utf8)) }) { proxy in
            try await LoopbackServer.serving({ _ in .whole(body: Array("[]".utf8)) }) { upstream in
                let address = proxy.url().absoluteString
                let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
                let proxies = Dictionary(uniqueKeysWithValues: names.map { ($0, address) })
                let environment = proxies.merging(["no_proxy": "", "NO_PROXY": ""]) { _, new in new }
                let ended = try await run([upstream.url().absoluteString], environment: environment)
                #expect(ended.ending == .exit(0), "\(ended.errors)")
                #expect(proxy.connectionCount == 0)
                #expect(upstream.requests.map(\.target).sorted() == ["/posts", "/users"])
            }
        }
    }
}
