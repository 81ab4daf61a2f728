import Foundation
import TestSupport
import Testing

@testable import Infrastructure

/// Reading real files and pipes.
@Suite(.timeLimit(.minutes(5)))
struct StandardInputTests {
    private let pipe = Pipe()

    private var lines: InputLines {
        StandardInput(descriptor: pipe.fileHandleForReading.fileDescriptor).lines(upTo: 1_000_000)
    }

    private func write(_ text: String) throws {
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    private func text(_ line: InputLine?) -> String? {
        line?.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func lineIsReadAsSoonAsItIsWritten() async throws {
        var iterator = lines.makeAsyncIterator()
        try write("one\ntw")
        #expect(text(try await iterator.next()) == "one")
        try write("o\nthree")
        #expect(text(try await iterator.next()) == "two")
        try pipe.fileHandleForWriting.close()
        #expect(text(try await iterator.next()) == "three")
        #expect(try await iterator.next() == nil)
    }

    @Test func lineLargerThanThePipeIsReadCompletely() async throws {
        let long = String(repeating: "x", count: 300_000)
        let writing = pipe.fileHandleForWriting
        // On a separate thread, because writing blocks until the pipe is read.
        Thread.detachNewThread {
            try? writing.write(contentsOf: Data("\(long)\nend".utf8))
            try? writing.close()
        }
        #expect(try await lines.map { text($0) }.reduce(into: []) { $0.append($1) } == [long, "end"])
    }

    @Test func cancelledReaderStopsWaiting() async throws {
        let (lines, beginning) = (lines, AsyncStream.makeStream(of: Void.self))
        try write("one\n")
        let task = Task {
            var iterator = lines.makeAsyncIterator()
            _ = try await iterator.next()
            beginning.continuation.yield()
            return try await iterator.next()
        }
        for await _ in beginning.stream { break }
        task.cancel()
        #expect(try await task.value == nil)
        // The cancelled read consumed nothing, so the next reader gets everything.
        try write("two\n")
        #expect(pipe.fileHandleForReading.availableData == Data("two\n".utf8))
    }

    @Test func fileIsReadToItsEnd() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "input.txt")
        try Data("one\ntwo".utf8).write(to: file)
        let handle = try FileHandle(forReadingFrom: file)
        let lines = StandardInput(descriptor: handle.fileDescriptor).lines(upTo: 10)
        #expect(try await lines.map { text($0) }.reduce(into: []) { $0.append($1) } == ["one", "two"])
        try handle.close()
    }

    @Test func unreadableInputIsAnError() async throws {
        let directory = try TemporaryDirectory()
        // `unsafe`: the string outlives the call, which keeps no pointer to it.
        let descriptor = unsafe open(directory.url.path(percentEncoded: false), O_RDONLY)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        for number in [handle.fileDescriptor, -1] {
            let error = await #expect(throws: StandardInputError.self) {
                for try await _ in StandardInput(descriptor: number).lines(upTo: 10) {}
            }
            #expect(error?.description.hasPrefix("The input cannot be read: ") == true)
        }
        withExtendedLifetime(handle) {}
    }
}
