import Foundation
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

@testable import InwardFileStores

struct FileDataLoaderTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func loader(_ name: String = "data", chunkByteCount: Int = 4) -> FileDataLoader {
        FileDataLoader(file: directory.url.appending(path: name), chunkByteCount: chunkByteCount)
    }

    @Test func chunksAreContiguous() async throws {
        try directory.write("0123456789", to: "data")
        let first = try await loader().chunk(at: 0, of: nil)
        #expect(first.chunk == DataChunk(Array("0123".utf8), at: 0, isLast: false))
        #expect(first.totalByteCount == 10)
        let last = try await loader().chunk(at: 8, of: first.validator)
        #expect(last.chunk == DataChunk(Array("89".utf8), at: 8, isLast: true))
        #expect(last.validator == first.validator)
        #expect(try await loader().chunk(at: 10, of: first.validator).chunk == DataChunk([], at: 10, isLast: true))
        #expect(try await loader().chunk(at: 99, of: first.validator).chunk == DataChunk([], at: 10, isLast: true))
    }

    @Test(arguments: [0, 1, 10]) func loaderConforms(count: Int) async throws {
        let bytes = Array("0123456789".utf8.prefix(count))
        try directory.write(String(decoding: bytes, as: UTF8.self), to: "data")
        try await DataLoaderConformance(bytes).check(loader())
    }

    @Test(arguments: ["9876543210", "", "98765432109876"]) func replacementIsNoticed(other: String) async throws {
        try directory.write("0123456789", to: "data")
        let conformance = DataLoaderConformance(Array("0123456789".utf8))
        try await conformance.checkReplacement(of: loader(), with: Array(other.utf8)) {
            let file = directory.url.appending(path: "data")
            try FileManager.default.moveItem(at: file, to: directory.url.appending(path: "kept"))
            try directory.write(other, to: "data")
        }
    }

    @Test func emptyFileIsOneEmptyChunk() async throws {
        try directory.write("", to: "data")
        #expect(try await loader().chunk(at: 0, of: nil).chunk == DataChunk([], at: 0, isLast: true))
    }

    @Test func replacedFileIsAnotherVersion() async throws {
        try directory.write("0123456789", to: "data")
        let first = try await loader().chunk(at: 0, of: nil)
        let validator = try #require(first.validator)
        #expect(try await loader().stillHas(validator))
        // The new file has the same length, and may have the same times.
        try directory.write("9876543210", to: "other")
        let (old, new) = (directory.url.appending(path: "data"), directory.url.appending(path: "other"))
        try FileManager.default.moveItem(at: old, to: directory.url.appending(path: "kept"))
        try FileManager.default.moveItem(at: new, to: old)
        #expect(try await loader().chunk(at: 4, of: validator).validator != validator)
        #expect(try await !loader().stillHas(validator))
    }

    @Test func pathThatIsNotARegularFileCountsAsMissing() async throws {
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "directory"),
            withIntermediateDirectories: true
        )
        for name in ["nothing", "directory", "no/where"] {
            let error = await #expect(throws: DataLoaderError.self) { try await loader(name).chunk(at: 0, of: nil) }
            #expect(error?.meansAbsence == true)
            #expect(error?.description.contains("\(name)” does not exist") == true || name == "no/where")
        }
    }

    @Test func symbolicLinkIsNotFollowed() async throws {
        try directory.write("0123456789", to: "data")
        try directory.link("link", to: "data")
        let error = await #expect(throws: DataLoaderError.self) { try await loader("link").chunk(at: 0, of: nil) }
        #expect(error?.description.hasSuffix("is a symbolic link, which is not followed") == true)
        #expect(error?.meansAbsence == false)
    }

    /// A loader that opened the file would report that it does not exist.
    @Test func cancelledTaskReadsNothing() async throws {
        let loader = loader("nothing")
        let task = Task {
            // `unsafe`: The task is only used inside the closure that it runs.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await loader.chunk(at: 0, of: nil)
        }
        let error = await #expect(throws: DataLoaderError.self) { try await task.value }
        #expect(error?.meansAbsence == false)
        #expect(error?.explanation == "was not read, because the task was cancelled")
    }
}
