import Foundation
import InwardFetching
import InwardFileStores
import InwardTesting
import InwardTransfers
import TestSupport
import Testing

/// Tests of transfers from files and from the network, to files and to the network.
@Suite(.timeLimit(.minutes(5)))
struct TransferPairingsTests {
    enum Place: CaseIterable {
        case file
        case network
    }

    /// A loader that fails when a chunk at or after an offset is requested.
    private struct InterruptedDataLoader: DataLoader {
        let base: any DataLoader
        let offset: Int

        var source: String? { base.source }

        func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
            guard offset < self.offset else { throw DataLoaderError(source: "The source", explanation: "is gone") }
            return try await base.chunk(at: offset, of: validator)
        }
    }

    private let directory: TemporaryDirectory
    private let server = InMemoryWebDataFetcher()
    private let data = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func url(_ name: String) throws -> URL { try #require(URL(string: "http://upstream.test/\(name)")) }

    private func loader(_ place: Place) throws -> any DataLoader {
        switch place {
        case .file:
            let file = directory.url.appending(path: "source")
            try Data(data).write(to: file)
            return FileDataLoader(file: file, chunkByteCount: 7_000)
        case .network:
            server["/source"] = data
            return FetchingDataLoader(url: try url("source"), chunkByteCount: 7_000, dataFetcher: server)
        }
    }

    private func saver(_ place: Place) throws -> any DataSaver {
        switch place {
        case .file: FileDataSaver(file: directory.url.appending(path: "target"), checkpointByteCount: 7_000)
        case .network: PuttingDataSaver(url: try url("target"), chunkByteCount: 7_000, dataFetcher: server)
        }
    }

    private func saved(_ place: Place) -> [UInt8]? {
        switch place {
        case .file: (try? Data(contentsOf: directory.url.appending(path: "target"))).map(Array.init)
        case .network: server["/target"]
        }
    }

    @Test(arguments: Place.allCases, Place.allCases)
    func interruptedTransferIsInvisibleAndResumes(from source: Place, to target: Place) async throws {
        let (loader, saver) = (try loader(source), try saver(target))
        await #expect(throws: TransferDataError.self) {
            try await TransferData(from: InterruptedDataLoader(base: loader, offset: 50_000), to: saver)()
        }
        #expect(saved(target) == nil)
        var progress: [Int] = []
        let report = try await TransferData(from: loader, to: saver)() { progress.append($0.doneByteCount) }
        #expect(saved(target) == data)
        #expect(report.resumedAt > 30_000 && report.resumedAt <= 56_000)
        #expect(report.checksum == Checksum(of: data.span).value)
        #expect(progress == progress.sorted() && progress.last == data.count)
    }
}
