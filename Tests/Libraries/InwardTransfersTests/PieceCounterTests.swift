import Testing

@testable import InwardTransfers

struct PieceCounterTests {
    private func piece(_ count: Int, at offset: Int, of total: Int? = nil) -> LoadedPiece {
        LoadedPiece(
            DataPiece([UInt8](repeating: 7, count: count), at: offset, isLast: false),
            validator: nil,
            totalByteCount: total
        )
    }

    /// After 1,000 pieces there must be ten bytes for each more.
    @Test func asManySmallPiecesAreTakenAsTheirAverageAllows() throws {
        var counter = PieceCounter(TransferLimits(minimumPieceByteCount: 10))
        for offset in 0..<1_000 { try counter.add(piece(1, at: offset), after: offset) }
        // 1,000 bytes allow 100 pieces more, and the 100 bytes of these another 11.
        for offset in 1_000..<1_111 { try counter.add(piece(1, at: offset), after: offset) }
        let problem = #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: 1_111), after: 1_111) }
        #expect(problem?.reason.hasPrefix("gave 1112 bytes in 1112 pieces") == true)
    }

    @Test func whatIsThereAlreadyDoesNotCount() throws {
        var counter = PieceCounter(TransferLimits(minimumPieceByteCount: 1))
        for _ in 0..<1_000 { try counter.add(piece(5, at: 0), after: 5) }
        #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(5, at: 0), after: 5) }
    }

    @Test func aPieceBeyondTheSizeContradictsIt() throws {
        var counter = PieceCounter(TransferLimits())
        try counter.add(piece(4, at: 0, of: 8), after: 0)
        try counter.add(piece(4, at: 4), after: 4)
        let beyond = #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: 8), after: 8) }
        #expect(beyond?.reason == "gave byte 9 of 8")
        let other = #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: 0, of: 9), after: 8) }
        #expect(other?.reason == "said that it has 8 bytes, and then that it has 9")
        counter.beginVersion()
        try counter.add(piece(1, at: 8, of: 9), after: 8)
    }

    @Test func aPieceMayEndAtTheLimit() throws {
        var counter = PieceCounter(TransferLimits(maximumByteCount: 8))
        try counter.add(piece(8, at: 0, of: 8), after: 0)
        #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: 8), after: 8) }
        #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: 0, of: 9), after: 8) }
        #expect(throws: PieceCounter.Problem.self) { try counter.add(piece(1, at: .max), after: 8) }
    }
}
