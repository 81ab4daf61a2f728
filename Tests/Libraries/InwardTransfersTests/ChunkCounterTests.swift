import Testing

@testable import InwardTransfers

struct ChunkCounterTests {
    private func chunk(_ count: Int, at offset: Int, of total: Int? = nil) -> LoadedChunk {
        LoadedChunk(
            DataChunk([UInt8](repeating: 7, count: count), at: offset, isLast: false),
            validator: nil,
            totalByteCount: total
        )
    }

    /// After 1,000 chunks, each further chunk needs ten bytes on average.
    @Test func smallChunksAreAllowedUpToTheirAverage() throws {
        var counter = ChunkCounter(TransferLimits(minimumChunkByteCount: 10))
        for offset in 0..<1_000 { try counter.add(chunk(1, at: offset), after: offset) }
        // 1,000 bytes allow 100 more chunks. These bring 100 bytes, which allow 10 more, and so on: 111 in total.
        for offset in 1_000..<1_111 { try counter.add(chunk(1, at: offset), after: offset) }
        let problem = #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 1_111), after: 1_111) }
        #expect(problem?.reason.hasPrefix("returned 1112 bytes in 1112 chunks") == true)
    }

    @Test func bytesThatAreAlreadyTransferredDoNotCount() throws {
        var counter = ChunkCounter(TransferLimits(minimumChunkByteCount: 1))
        for _ in 0..<1_000 { try counter.add(chunk(5, at: 0), after: 5) }
        #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(5, at: 0), after: 5) }
    }

    @Test func chunkBeyondTheSizeIsAContradiction() throws {
        var counter = ChunkCounter(TransferLimits())
        try counter.add(chunk(4, at: 0, of: 8), after: 0)
        try counter.add(chunk(4, at: 4), after: 4)
        let beyond = #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 8), after: 8) }
        #expect(beyond?.reason == "returned data up to byte 9, but reported a size of 8")
        let other = #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 0, of: 9), after: 8) }
        #expect(other?.reason == "reported a size of 8 bytes, and then of 9")
        counter.beginVersion()
        try counter.add(chunk(1, at: 8, of: 9), after: 8)
    }

    @Test func chunkMayEndAtTheLimit() throws {
        var counter = ChunkCounter(TransferLimits(maximumByteCount: 8))
        try counter.add(chunk(8, at: 0, of: 8), after: 0)
        #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 8), after: 8) }
        #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 0, of: 9), after: 8) }
        #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: .max), after: 8) }
    }

    @Test func emptyChunkIsWithinAnyLimit() throws {
        var counter = ChunkCounter(TransferLimits(maximumByteCount: 0))
        try counter.add(chunk(0, at: 0), after: 0)
        #expect(throws: ChunkCounter.Problem.self) { try counter.add(chunk(1, at: 0), after: 0) }
    }
}
