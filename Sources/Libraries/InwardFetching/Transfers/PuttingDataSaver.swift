public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data saver that stores data at a URL.
///
/// ```swift
/// import InwardTransfers
///
/// let saver = PuttingDataSaver(url: url, contentType: "application/json", dataFetcher: client)
/// try await saver.save([UInt8](#"{"id": 7}"#.utf8))
/// ```
///
/// Data that fits into one chunk is stored by a single `PUT`, which replaces the resource at once. Any server with `PUT`
/// supports that.
///
/// Larger data is sent in chunks by `PUT` with `Content-Range` (RFC 9110 section 14.5). They are assembled next to the URL, at
/// its path with the suffix `.inward-part`. A small record at the path with the suffix `.inward-state` holds the progress, so
/// that another launch can resume. When the data is complete, the saver reads it back, compares it, and moves it to the URL by
/// `MOVE` (RFC 4918). So the data crosses the network twice, and a resumed part is read back once more.
///
/// The server must support all of this, as a WebDAV server with partial `PUT` does. After the second chunk, the saver detects a
/// server that ignores `Content-Range`, and throws.
public struct PuttingDataSaver: DataSaver {
    private let place: PuttingPlace

    /// Creates a saver.
    ///
    /// - Parameters:
    ///   - url: The URL to store the data at.
    ///   - contentType: The media type of the data.
    ///   - chunkByteCount: The number of bytes to send at once, at least 1. Memory briefly holds them twice.
    ///   - limits: The limits for the size and the chunks of data that is read back.
    ///   - dataFetcher: The data fetcher that sends the requests.
    public init(
        url: URL,
        contentType: String = "application/octet-stream",
        chunkByteCount: Int = 4 * 1_024 * 1_024,
        limits: TransferLimits = TransferLimits(),
        dataFetcher: any DataFetcher
    ) {
        place = PuttingPlace(
            url: url,
            contentType: contentType,
            chunkByteCount: max(1, chunkByteCount),
            limits: limits,
            dataFetcher: dataFetcher
        )
    }

    /// Replaces the resource with the data in one request, and reads it back.
    ///
    /// - Throws: A `DataSaverError` if the request fails, or the stored data differs.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        try await place.put(data, at: place.url)
        try await place.check(place.url, Checksum(of: data.span), of: data.count)
    }

    /// Returns a draft. If an earlier launch left a part, the draft reads it back and resumes it.
    ///
    /// - Throws: A `DataSaverError` if the server does not answer.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        try await PuttingDataDraft(place)
    }
}

/// A draft next to its URL, or in memory while it fits into one body.
struct PuttingDataDraft: DataDraft {
    private(set) var saved: SavedPart?

    private let place: PuttingPlace
    /// The bytes not yet sent.
    private var rest: [UInt8] = []
    /// The saved part as it will be when those bytes have been sent.
    private var reached: SavedPart?
    private var sentByteCount = 0
    private var sentChunkCount = 0
    private var isPublished = false
    private var isLeftForOthers = false

    /// Creates a draft. If an earlier launch left a part, reads it back and resumes it.
    init(_ place: PuttingPlace) async throws(DataSaverError) {
        self.place = place
        guard let noted = try await place.notedPart(), noted.canBeResumed, noted.savedByteCount > 0,
            // The record comes from the server, which could otherwise make the saver read back any number of bytes.
            noted.savedByteCount <= place.limits.maximumByteCount
        else { return }
        do {
            let checksum = try await place.checksum(of: noted.savedByteCount, at: place.part, isAll: false)
            guard checksum == Checksum(value: noted.checksum) else { return }
        } catch {
            // If the part is missing, there is nothing to resume. If the server fails, another launch tries again.
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
        sentChunkCount = 0
        isLeftForOthers = false
    }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError) {
        guard !Task.isCancelled else {
            throw DataSaverError(destination: "Saving the data", explanation: "was cancelled")
        }
        // Data that fits into one body is sent only when it is complete.
        if rest.count + bytes.count > place.chunkByteCount {
            try await send()
            // A draft can be resumed only at the end of a sent chunk.
            if let reached, reached.canBeResumed {
                try await place.note(reached)
                isLeftForOthers = true
            }
        }
        var bytes = bytes[...]
        while bytes.count > place.chunkByteCount {
            rest = Array(bytes.prefix(place.chunkByteCount))
            bytes = bytes.dropFirst(place.chunkByteCount)
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
                    explanation: "was not sent, because the data does not match its checksum"
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
        // If this fails, the next writer removes the leftovers.
        try? await place.remove()
    }

    /// Sends the bytes not yet sent.
    private mutating func send(isLast: Bool = false) async throws(DataSaverError) {
        guard !rest.isEmpty else { return }
        // Remove the leftovers of other writers, which might be longer than the new data.
        if sentByteCount == 0 { try await place.remove() }
        let end = sentByteCount + rest.count
        try await place.put(rest, at: place.part, from: sentByteCount, of: isLast ? end : nil)
        rest.removeAll(keepingCapacity: true)
        sentByteCount = end
        sentChunkCount += 1
        guard sentChunkCount == 2, try await place.partByteCount(expected: end) != end else { return }
        isLeftForOthers = false
        throw DataSaverError(
            destination: "PUT \(place.part.withoutSecrets)",
            explanation: """
                was stored as the whole instead of a part, because the server does not support Content-Range. Raise the \
                saver's `chunkByteCount` (\(place.chunkByteCount)) to the size of the data, or use another server
                """
        )
    }
}

/// A data saver that posts data to a URL, such as a collector of reports.
///
/// ```swift
/// import InwardTransfers
///
/// let reports = PostingDataSaver(url: url, dataFetcher: client)
/// try await reports.save([UInt8]("The disk is full.".utf8))
/// ```
public struct PostingDataSaver: DataSaver {
    private let url: URL
    private let contentType: String
    private let dataFetcher: any DataFetcher

    /// Creates a saver.
    ///
    /// - Parameters:
    ///   - url: The URL to post the data to.
    ///   - contentType: The media type of the data.
    ///   - dataFetcher: The data fetcher that sends the requests.
    public init(url: URL, contentType: String = "text/plain; charset=utf-8", dataFetcher: any DataFetcher) {
        self.url = url
        self.contentType = contentType
        self.dataFetcher = dataFetcher
    }

    /// Posts the data.
    ///
    /// - Throws: A `DataSaverError` if the request fails.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        let request = DataRequest(
            method: .post,
            url: url,
            headerFields: [HeaderField(.contentType, contentType)],
            body: Data(data)
        )
        do throws(FetchError) {
            let response = try await dataFetcher.fetch(request)
            guard response.status.isSuccess else { throw FetchError(response, to: request) }
        } catch {
            throw DataSaverError(destination: error.request, explanation: error.explanation)
        }
    }
}
