import Foundation
import Infrastructure
import InwardFileStores
import InwardRepositories
import LoopbackServer
import Synchronization
import Testing

@testable import inward

@Suite(.timeLimit(.minutes(5)))
struct PublishTests {
    private let output = Texts()
    private let errors = Texts()
    private let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")

    private var store: String { directory.path(percentEncoded: false) }

    /// Runs the command with an input that a closure reads.
    private func run(
        _ arguments: [String],
        interruptions: AsyncStream<Void> = AsyncStream { $0.finish() },
        isTerminal: Bool = false,
        reading read: @escaping @Sendable () async -> [UInt8]
    ) async -> ExitCode {
        let (output, errors) = (output, errors)
        return await QuickLook(
            terminal: Terminal(
                standardOutput: StandardOutput(isTerminal: isTerminal) { output.append($0) },
                standardError: StandardError(isTerminal: false) { errors.append($0) }
            ),
            standardInput: StandardInput(read: read),
            interruptions: { interruptions },
            patience: .seconds(3_600)
        ).run(arguments)
    }

    /// Runs the command with these lines as its input.
    private func run(_ arguments: String..., input: String...) async -> ExitCode {
        let rest = Mutex(input.map { Array("\($0)\n".utf8) }[...])
        return await run(arguments) { rest.withLock { $0.popFirst() ?? [] } }
    }

    private static func post(_ title: String, by author: Int = 7) -> String {
        #"{"userId": \#(author), "title": "\#(title)", "body": "On the engine."}"#
    }

    @Test func postsArePublishedImmediatelyWithoutAStore() async throws {
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving {
            upstream.answer($0)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--publish", input: Self.post("One"), "", Self.post("Two")) == .success)
        }
        #expect(
            output.all == "Line 1: Published as post 101 of user 7: One\nLine 3: Published as post 102 of user 7: Two\n"
        )
        #expect(errors.all.isEmpty)
        #expect(upstream.done.map(\.title) == ["One", "Two"])
    }

    @Test func postsAreAcceptedWithAKeyAndDeliveredWithAStore() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving {
            upstream.answer($0)
        } test: { server in
            let address = server.url().absoluteString
            let exitCode = await run(address, "--publish", "--store", store, input: Self.post("One"), Self.post("Two"))
            #expect(exitCode == .success)
        }
        let lines = output.all.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("Line 1: Accepted as post ") && lines[0].hasSuffix(" of user 7: One"))
        #expect(lines[1].hasPrefix("Line 2: Accepted as post ") && lines[1].hasSuffix(" of user 7: Two"))
        #expect(lines[2] == "Delivered 2, refused 0; 0 pending until the next start.")
        #expect(errors.all.isEmpty)
        #expect(Set(upstream.done.map(\.key)).count == 2 && upstream.done.allSatisfy { $0.key != nil })
    }

    @Test func websiteIsDeliveredWithItsPostAndNeedsAStore() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let moved = #"{"userId": 7, "title": "Moved", "body": "x", "website": "ada.test"}"#
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving {
            upstream.answer($0)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--publish", input: moved) == .failure)
            #expect(upstream.journal.isEmpty)
            #expect(await run(address, "--publish", "--store", store, input: moved) == .success)
        }
        #expect(errors.all.hasPrefix("inward: Line 1: The post was not published: it cannot be accepted together with"))
        let lines = output.all.split(separator: "\n")
        #expect(
            lines == [
                "Line 1: Accepted with the website ada.test of user 7: Moved",
                "Delivered 2, refused 0; 0 pending until the next start.",
            ]
        )
        #expect(upstream.done.compactMap(\.request).sorted() == ["PATCH /users/7", "POST /posts"])
    }

    @Test func failedLineIsReportedByNumberAndTheOthersArePublished() async throws {
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving { request in
            request.target == "/users/77" ? .whole(status: 404) : upstream.answer(request)
        } test: { server in
            let exitCode = await run(
                server.url().absoluteString,
                "--publish",
                input: "{",
                Self.post("One", by: 77),
                String(repeating: "x", count: 1_048_577),
                Self.post("Two")
            )
            #expect(exitCode == .failure)
        }
        #expect(output.all == "Line 4: Published as post 101 of user 7: Two\n")
        let lines = errors.all.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix("inward: Line 1: This is not a post: it is not valid JSON; it begins with “{”. "))
        #expect(lines[1].hasPrefix("inward: Line 2: The post was not published. User 77 does not exist."))
        #expect(lines[2].hasPrefix("inward: Line 3: This is not a post: it is longer than 1048576 bytes. "))
    }

    @Test func refusedPostIsReportedAndAFailure() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving { request in
            request.method == "POST" ? .whole(status: 422) : upstream.answer(request)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--publish", "--store", store, input: Self.post("One")) == .failure)
        }
        #expect(output.all.hasSuffix("\nDelivered 0, refused 1; 0 pending until the next start.\n"))
        #expect(errors.all.contains("inward: The post “One” of user 7 was refused, and stays in the outbox: "))
        #expect(errors.all.hasSuffix("1 refused post is kept: the post “One” of user 7. \(Self.advice)\n"))
    }

    private static let advice = "List them with --outbox, then --retry or --discard them."

    @Test func everyTaskReportsARefusedPostUntilItIsDiscarded() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        try await LoopbackServer.serving { request in
            request.method == "POST" ? .whole(status: 422) : upstream.answer(request)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--publish", "--store", store, input: Self.post("One")) == .failure)
            let told = "inward: 1 refused post is kept: the post “One” of user 7. \(Self.advice)\n"
            for task in [[], ["--open", "users/7"]] {
                for isTerminal in [false, true] {
                    let before = errors.all.count
                    let exitCode = await run([address, "--store", store] + task, isTerminal: isTerminal) { [] }
                    #expect(exitCode == .success)
                    #expect(errors.all.dropFirst(before).hasSuffix(told))
                }
            }
            let id = try #require(try await listed(at: address).first)
            #expect(await run(address, "--store", store, "--outbox", "--discard", id) == .success)
            #expect(output.all.hasSuffix("Discarded the post “One” of user 7.\n"))
            #expect(try await listed(at: address) == [])
            let before = errors.all.count
            #expect(await run(address, "--store", store, "--open", "users/7") == .success)
            #expect(!errors.all.dropFirst(before).contains("refused"))
        }
    }

    @Test(arguments: [false, true]) func damageToTheStoreIsReportedEvenOnATerminal(isTerminal: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(await run("--store", store, "--open", "users/7") == .success)
        let log = directory.appending(path: "records")
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count / 2] ^= 0xFF
        try bytes.write(to: log)
        #expect(await run(["--store", store, "--open", "users/7"], isTerminal: isTerminal) { [] } == .success)
        #expect(errors.all.contains("damaged"))
    }

    /// Returns the IDs that the outbox lists.
    private func listed(at address: String) async throws -> [String] {
        let before = output.all.count
        #expect(await run(address, "--store", store, "--outbox") == .success)
        let text = output.all.dropFirst(before)
        #expect(text.hasPrefix("Outbox\n======\n\n"))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("ID ") }) else { return [] }
        return lines[(start + 2)...].prefix { !$0.isEmpty }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
    }

    @Test func refusedPostCanBeRetriedUntilItIsDelivered() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        let takesPosts = LoopbackSwitch()
        try await LoopbackServer.serving { request in
            request.method == "POST" && !takesPosts.isOn ? .whole(status: 404) : upstream.answer(request)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--publish", "--store", store, input: Self.post("One")) == .failure)
            let id = try #require(try await listed(at: address).first)
            #expect(id.count == 6)
            #expect(output.all.contains("refused  One    user 7"))
            #expect(await run(address, "--store", store, "--retry", "zz") == .failure)
            #expect(errors.all.contains("There is no write whose ID begins with “zz”. List them with --outbox."))
            #expect(await run(address, "--store", store, "--retry", id) == .failure)
            #expect(output.all.contains("The upstream refused the post “One” of user 7 again: "))
            takesPosts.turnOn()
            let again = try #require(try await listed(at: address).first)
            #expect(await run(address, "--store", store, "--retry", again) == .success)
            #expect(output.all.hasSuffix("Delivered the post “One” of user 7.\n"))
            #expect(try await listed(at: address) == [])
        }
        #expect(upstream.done.map(\.title) == ["One"])
    }

    /// Readers do not take over the outbox of a running publisher.
    @Test func readersCanRunDuringPublishing() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        let (drawings, draw) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        try await LoopbackServer.serving {
            upstream.answer($0)
        } test: { server in
            let address = server.url().absoluteString
            let input = Mutex([Self.post("One"), Self.post("Two")].map { Array("\($0)\n".utf8) }[...])
            let drawn = Mutex(0)
            async let publisher = run([address, "--publish", "--store", store]) {
                let number = drawn.withLock { number in
                    number += 1
                    return number
                }
                if number == 2 {
                    draw.yield()
                    for await _ in releases { break }
                }
                return input.withLock { $0.popFirst() ?? [] }
            }
            for await _ in drawings { break }
            // The first line is accepted, and the program waits for the second.
            #expect(await run(address, "--store", store) == .success)
            #expect(await run(address, "--store", store, "--open", "posts") == .success)
            #expect(await run(address, "--store", store, "--outbox") == .success)
            #expect(output.all.contains("- The outbox is owned by process "))
            release.yield()
            #expect(await publisher == .success)
        }
        #expect(errors.all.contains("Line") == false)
        #expect(output.all.contains("Line 2: Accepted"))
        #expect(upstream.done.map(\.title).sorted { ($0 ?? "") < ($1 ?? "") } == ["One", "Two"])
    }

    /// Opening an outbox would write its owner to the store, and send pending posts.
    @Test func readingCommandsDoNotOpenTheOutbox() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        let (drawings, draw) = AsyncStream.makeStream(of: Void.self)
        let (interruptions, interrupt) = AsyncStream.makeStream(of: Void.self)
        try await LoopbackServer.serving { request in
            request.method == "POST" ? .never : upstream.answer(request)
        } test: { server in
            let address = server.url().absoluteString
            let input = Mutex([Array("\(Self.post("One"))\n".utf8)])
            async let publisher = run([address, "--publish", "--store", store], interruptions: interruptions) {
                if let line = input.withLock({ $0.popLast() }) { return line }
                draw.yield()
                for await _ in AsyncStream<Void>(Void.self, { _ in }) {}
                return []
            }
            for await _ in drawings { break }
            interrupt.yield()
            #expect(await publisher == .failure)
            let records = FileRecordStore(directory: URL(filePath: store))
            let left = try await records.records(under: ["outboxes"])
            #expect(left.contains { $0.key.components.last == "owner" })
            for task in [[], ["--open", "posts"], ["--outbox"]] {
                #expect(await run([address, "--store", store] + task) { [] } == .success)
                let records = try await records.records(under: ["outboxes"])
                #expect(records.map(\.key) == left.map(\.key))
                #expect(records.map(\.record) == left.map(\.record))
            }
        }
    }

    @Test func nextStartDeliversPostsAcceptedBeforeAnInterruption() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        let (drawings, draw) = AsyncStream.makeStream(of: Void.self)
        let (interruptions, interrupt) = AsyncStream.makeStream(of: Void.self)
        let takesPosts = LoopbackSwitch()
        try await LoopbackServer.serving { request in
            request.method == "POST" && !takesPosts.isOn ? .never : upstream.answer(request)
        } test: { server in
            let input = Mutex([Array("\(Self.post("One"))\n{\"userId\"".utf8)])
            async let exitCode = run(
                [server.url().absoluteString, "--publish", "--store", store],
                interruptions: interruptions
            ) {
                if let part = input.withLock({ $0.popLast() }) { return part }
                // The first line is accepted, and the rest of the second one never arrives.
                draw.yield()
                for await _ in AsyncStream<Void>(Void.self, { _ in }) {}
                return []
            }
            for await _ in drawings { break }
            interrupt.yield()
            #expect(await exitCode == .failure)
            #expect(output.all.hasSuffix("of user 7: One\nDelivered 0, refused 0; 1 pending until the next start.\n"))
            #expect(errors.all == "inward: Interrupted after line 1: later lines were not read.\n")

            takesPosts.turnOn()
            #expect(await run(server.url().absoluteString, "--publish", "--store", store) == .success)
        }
        #expect(output.all.hasSuffix("\nDelivered 1, refused 0; 0 pending until the next start.\n"))
        #expect(upstream.done.map(\.title) == ["One"])
    }

    @Test(arguments: [true, false])
    func unopenableStoreIsReportedAndOnlyWritingFails(isTerminal: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data().write(to: directory)
        #expect(await run(["--open", "users/7", "--store", store], isTerminal: isTerminal) { [] } == .success)
        #expect(output.all.contains("Colette Lachance"))
        #expect(errors.all.contains("Something else is in its place. Use another directory."))
        let line = Mutex([Array("\(Self.post("One"))\n".utf8)])
        let exitCode = await run(["--publish", "--store", store], isTerminal: isTerminal) {
            line.withLock { $0.popLast() ?? [] }
        }
        #expect(exitCode == .failure)
        #expect(errors.all.hasSuffix("inward: Nothing was published, because the store cannot be opened.\n"))
        #expect(!output.all.contains("Line 1"))
    }

    @Test func storedUsersAreShownWhileTheUpstreamIsDown() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let upstream = JournalingUpstream()
        let isAway = LoopbackSwitch()
        try await LoopbackServer.serving { request in
            isAway.isOn ? .raw([]) : upstream.answer(request)
        } test: { server in
            let address = server.url().absoluteString
            #expect(await run(address, "--store", store) == .success)
            #expect(!output.all.contains("(from store)"))
            isAway.turnOn()
            #expect(await run(address, "--store", store) == .success)
            #expect(output.all.contains("Read 1 users (from store) and"))
        }
    }

    @Test func publishingStopsWhenTheOutputFails() async throws {
        struct Full: Error {}
        let rest = Mutex([Self.post("One"), Self.post("Two")].map { Array("\($0)\n".utf8) }[...])
        let upstream = JournalingUpstream()
        let errors = errors
        try await LoopbackServer.serving {
            upstream.answer($0)
        } test: { server in
            let quickLook = QuickLook(
                terminal: Terminal(
                    standardOutput: StandardOutput { _ in throw Full() },
                    standardError: StandardError(isTerminal: false) { errors.append($0) }
                ),
                standardInput: StandardInput { rest.withLock { $0.popFirst() ?? [] } },
                interruptions: { AsyncStream { _ in } },
                patience: .seconds(3_600)
            )
            #expect(await quickLook.run([server.url().absoluteString, "--publish"]) == .failure)
        }
        #expect(upstream.done.map(\.title) == ["One"])
        #expect(errors.all.hasPrefix("inward: The output cannot be written"))
    }
}
