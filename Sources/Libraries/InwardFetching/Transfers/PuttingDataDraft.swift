import InwardTransfers

/// A draft beside the address that it is for, or in memory as long as it fits into one body.
struct PuttingDataDraft: DataDraft {
    private(set) var saved: SavedPart?

    private let place: PuttingPlace
    /// What is not sent yet.
    private var rest: [UInt8] = []
    /// What the draft is with that.
    private var reached: SavedPart?
    private var sentByteCount = 0
    private var sentPieceCount = 0
    private var isPublished = false
    private var isLeftForOthers = false

    /// Asks what an earlier run left, and reads it.
    init(_ place: PuttingPlace) async throws(DataSaverError) {
        self.place = place
        guard let noted = try await place.notedPart(), noted.canBeResumed, noted.savedByteCount > 0,
            // A server that is not to be trusted can note any number, and have it read back for ever.
            noted.savedByteCount <= place.limits.maximumByteCount
        else { return }
        do {
            let checksum = try await place.checksum(of: noted.savedByteCount, at: place.part, isAll: false)
            guard checksum == Checksum(value: noted.checksum) else { return }
        } catch {
            // What is not there is nothing to go on from. A server that fails is asked again by another run.
            guard error.meansAbsence else {
                throw DataSaverError(destination: error.source, explanation: error.explanation)
            }
            return
        }
        saved = noted
        sentByteCount = noted.savedByteCount
        isLeftForOthers = true
    }

    mutating func begin() async throws(DataSaverError) {
        if saved != nil || sentByteCount > 0 { try await place.remove() }
        saved = nil
        rest = []
        reached = nil
        sentByteCount = 0
        sentPieceCount = 0
        isLeftForOthers = false
    }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError) {
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "Saving the data", explanation: "was cancelled")
        }
        // What fits into one body is sent when it is known to be all.
        if rest.count + bytes.count > place.pieceByteCount {
            try await send()
            // Only where a piece ends that was sent can somebody go on.
            if let reached, reached.canBeResumed {
                try await place.note(reached)
                isLeftForOthers = true
            }
        }
        var bytes = bytes[...]
        while bytes.count > place.pieceByteCount {
            rest = Array(bytes.prefix(place.pieceByteCount))
            bytes = bytes.dropFirst(place.pieceByteCount)
            try await send()
        }
        rest += bytes
        reached = part
    }

    mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
        guard sentByteCount > 0 else {
            guard Checksum(of: rest.span) == checksum else {
                throw DataSaverError(
                    destination: "PUT \(place.url.withoutSecrets)",
                    explanation: "was not sent, because the data is not what was to be saved"
                )
            }
            try await place.put(rest, at: place.url)
            return try await place.check(place.url, checksum, of: rest.count)
        }
        try await send(isLast: true)
        do {
            try await place.check(place.part, checksum, of: sentByteCount)
        } catch {
            isLeftForOthers = false
            throw error
        }
        isPublished = true
        try await place.publish()
    }

    mutating func leave() async {
        guard sentByteCount > 0, !isPublished, !isLeftForOthers else { return }
        // What stays is taken away by whoever writes next.
        try? await place.remove()
    }

    /// Sends what is not sent yet.
    private mutating func send(isLast: Bool = false) async throws(DataSaverError) {
        guard !rest.isEmpty else { return }
        // What somebody else left there, longer perhaps, is not to show behind this.
        if sentByteCount == 0 { try await place.remove() }
        let end = sentByteCount + rest.count
        try await place.put(rest, at: place.part, from: sentByteCount, of: isLast ? end : nil)
        rest.removeAll(keepingCapacity: true)
        sentByteCount = end
        sentPieceCount += 1
        guard sentPieceCount == 2, try await place.partByteCount(expected: end) != end else { return }
        isLeftForOthers = false
        throw DataSaverError(
            destination: "PUT \(place.part.withoutSecrets)",
            explanation: """
                was taken for the whole and not for a part: the server does not know Content-Range, and can be sent \
                \(place.pieceByteCount) bytes at the most
                """
        )
    }
}
