public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Saves data by putting it at an address.
///
/// What fits into one body is put there by one `PUT`, which any server that takes `PUT` does at once.
///
/// What is larger is put together beside it, at the address with `.inward-part` behind its path, in pieces by `PUT` with
/// `Content-Range` (RFC 9110 section 14.5). A small record at the address with `.inward-state` tells its end, so that another run
/// goes on from there. When all is there it is read back by ranges, compared, and moved to the address by `MOVE` (RFC 4918). That
/// takes a server which knows all of these, such as one of WebDAV that takes parts; one that takes the parts for the whole is
/// found out with the second. The data crosses the network twice, and what an earlier run left is read before it is gone on from.
public struct PuttingDataSaver: DataSaver {
    private let place: PuttingPlace

    /// Makes a saver.
    ///
    /// - Parameters:
    ///   - url: Where the data goes.
    ///   - contentType: What the data is said to be.
    ///   - pieceByteCount: How many bytes are put at once, at least 1. They are in memory, twice for a moment.
    ///   - limits: How much is read back, and in how small pieces.
    ///   - dataFetcher: What carries it there.
    public init(
        url: URL,
        contentType: String = "application/octet-stream",
        pieceByteCount: Int = 4 * 1_024 * 1_024,
        limits: TransferLimits = TransferLimits(),
        dataFetcher: any DataFetcher
    ) {
        place = PuttingPlace(
            url: url,
            contentType: contentType,
            pieceByteCount: max(1, pieceByteCount),
            limits: limits,
            dataFetcher: dataFetcher
        )
    }

    /// Puts the data in the place of what the address names, by one request, and reads it back.
    ///
    /// - Throws: a `DataSaverError` unless it was answered with success, and what is there is what was put.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        try await place.put(data, at: place.url)
        try await place.check(place.url, Checksum(of: data.span), of: data.count)
    }

    /// Asks what an earlier run left, and reads it.
    ///
    /// - Throws: a `DataSaverError` if the server does not say.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        try await PuttingDataDraft(place)
    }
}

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
