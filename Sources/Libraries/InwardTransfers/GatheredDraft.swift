/// A draft in memory, for a saver that saves at once.
struct GatheredDraft: DataDraft {
    private let saver: any DataSaver
    private let byteLimit: Int
    private var bytes: [UInt8] = []

    /// Makes a draft that holds so many bytes at the most.
    init(for saver: any DataSaver, byteLimit: Int) {
        self.saver = saver
        self.byteLimit = byteLimit
    }

    /// Nothing, for memory does not last.
    var saved: SavedPart? { nil }

    mutating func begin() {
        bytes = []
    }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) throws(DataSaverError) {
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "Saving the data", explanation: "was cancelled")
        }
        guard bytes.count <= byteLimit - self.bytes.count else {
            throw DataSaverError(
                destination: "The data",
                explanation: """
                    has more than \(byteLimit) bytes, the most that this saver takes at once. Use a saver that takes data piece by \
                    piece, or return `gatheredDraft(byteLimit:)` with a higher limit from its `openDraft()`
                    """
            )
        }
        self.bytes += bytes
    }

    mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
        guard Checksum(of: bytes.span) == checksum else {
            throw DataSaverError(destination: "The data", explanation: "is not what was to be saved")
        }
        try await saver.save(bytes)
    }

    mutating func leave() {
        bytes = []
    }
}
