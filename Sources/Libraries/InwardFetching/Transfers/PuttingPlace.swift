import InwardTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The URLs and requests of a ``PuttingDataSaver``.
struct PuttingPlace: Sendable {
    /// The maximum number of bytes to read back at once.
    private static let readingByteCount = 1_024 * 1_024
    /// The maximum number of bytes in a record of the progress.
    private static let maximumNoteByteCount = 64 * 1_024

    let url: URL
    let contentType: String
    let chunkByteCount: Int
    let limits: TransferLimits
    let dataFetcher: any DataFetcher

    /// The URL at which the data is assembled.
    var part: URL { beside("inward-part") }
    private var state: URL { beside("inward-state") }

    /// Puts bytes at a URL. With an offset, they are a part of the data, and `total` is the number of all its bytes, if known.
    func put(_ bytes: [UInt8], at url: URL, from offset: Int? = nil, of total: Int? = nil) async throws(DataSaverError)
    {
        var request = DataRequest(
            method: .put,
            url: url,
            headerFields: [HeaderField(.contentType, contentType)],
            body: Data(bytes)
        )
        if let offset {
            let total = total.map(String.init) ?? "*"
            request.headerFields[.contentRange] = "bytes \(offset)-\(offset + bytes.count - 1)/\(total)"
        }
        try await perform(request)
    }

    /// Returns the recorded progress; `nil` if there is none that can be read.
    func notedPart() async throws(DataSaverError) -> SavedPart? {
        let request = DataRequest(url: state)
        let response = try await response(to: request)
        guard response.status.isSuccess else {
            // A client error means that there is no record. After a server error, another launch tries again.
            guard (400..<500).contains(response.status.code) else { throw failure(FetchError(response, to: request)) }
            return nil
        }
        guard response.body.count <= Self.maximumNoteByteCount else { return nil }
        return SavedPart(note: [UInt8](response.body))
    }

    /// Records the progress.
    func note(_ part: SavedPart) async throws(DataSaverError) {
        try await put(part.note, at: state)
    }

    /// Removes the assembled data and the recorded progress, if any.
    func remove() async throws(DataSaverError) {
        for url in [state, part] {
            let request = DataRequest(method: .delete, url: url)
            let response = try await response(to: request)
            guard response.status.isSuccess || [404, 410].contains(response.status.code) else {
                throw failure(FetchError(response, to: request))
            }
        }
    }

    /// Moves the assembled data to its URL.
    func publish() async throws(DataSaverError) {
        var request = DataRequest(method: .move, url: part)
        // Like any URL, it may contain secrets.
        request.headerFields.append(HeaderField(.destination, url.absoluteString, isSensitive: true))
        request.headerFields[.overwrite] = "T"
        try await perform(request)
        // A leftover record is harmless, because its part is missing.
        _ = try? await response(to: DataRequest(method: .delete, url: state))
    }

    /// Reads back and verifies the data at a URL.
    ///
    /// - Throws: A `DataSaverError` if the size or the checksum differs.
    func check(_ url: URL, _ checksum: Checksum, of count: Int) async throws(DataSaverError) {
        let found: Checksum?
        do {
            found = try await self.checksum(of: count, at: url, isAll: true)
        } catch {
            throw DataSaverError(destination: error.source, explanation: error.explanation)
        }
        guard found == checksum else {
            throw DataSaverError(
                destination: DataRequest(method: .put, url: url).description,
                explanation: "was answered with success, but the stored data differs from the data that was sent"
            )
        }
    }

    /// Returns the checksum of the given number of bytes at a URL; `nil` if there are fewer, or if there are more and `isAll`
    /// is true.
    func checksum(of count: Int, at url: URL, isAll: Bool) async throws(DataLoaderError) -> Checksum? {
        let readingByteCount = min(chunkByteCount, Self.readingByteCount)
        let loader = FetchingDataLoader(url: url, chunkByteCount: readingByteCount, dataFetcher: dataFetcher)
        var checksum = Checksum()
        var offset = 0
        var validator: String?
        // The counter gives up on a server that returns tiny chunks. Its minimum must not exceed the requested chunk size.
        var limits = limits
        limits.minimumChunkByteCount = min(limits.minimumChunkByteCount, readingByteCount)
        var counter = ChunkCounter(limits)
        while true {
            let loaded = try await loader.chunk(at: offset, of: validator)
            do {
                try counter.add(loaded, after: offset)
            } catch {
                throw DataLoaderError(source: "GET \(url.withoutSecrets)", explanation: error.reason)
            }
            let chunk = loaded.chunk
            guard chunk.offset <= offset, offset == 0 || loaded.validator == validator else { return nil }
            let bytes = chunk.bytes.dropFirst(offset - chunk.offset).prefix(count - offset)
            checksum.update(with: bytes.span)
            offset += bytes.count
            if offset == count, !isAll || chunk.isLast {
                return !isAll || chunk.offset + chunk.bytes.count == count ? checksum : nil
            }
            guard !chunk.isLast, !bytes.isEmpty else { return nil }
            validator = loaded.validator
        }
    }

    /// Returns the number of bytes in the assembled data; `nil` if the server does not say.
    func partByteCount(expected: Int) async throws(DataSaverError) -> Int? {
        let loader = FetchingDataLoader(url: part, chunkByteCount: 1, dataFetcher: dataFetcher)
        do {
            return try await loader.chunk(at: expected - 1, of: nil).totalByteCount
        } catch {
            throw DataSaverError(destination: error.source, explanation: error.explanation)
        }
    }

    private func perform(_ request: DataRequest) async throws(DataSaverError) {
        let response = try await response(to: request)
        guard response.status.isSuccess else { throw failure(FetchError(response, to: request)) }
    }

    private func response(to request: DataRequest) async throws(DataSaverError) -> DataResponse {
        do {
            return try await dataFetcher.fetch(request)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: FetchError) -> DataSaverError {
        DataSaverError(destination: error.request, explanation: error.explanation)
    }

    private func beside(_ suffix: String) -> URL {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return url }
        components.percentEncodedPath += ".\(suffix)"
        return components.url ?? url
    }
}

/// The record of a part: its numbers as JSON, then a line with their checksum. Without the checksum, a damaged number would make
/// a transfer resume at the wrong place.
extension SavedPart {
    /// The upper bound of byte counts, which avoids overflow.
    private static let maximumBytes = 1 << 60

    /// Parses a record; `nil` if it is invalid or damaged.
    package init?(note: [UInt8]) {
        let lines = note.split(separator: UInt8(ascii: "\n"))
        guard lines.count == 2, String(decoding: lines[1], as: UTF8.self) == Self.sum(Array(lines[0])),
            let part = try? JSONDecoder().decode(Self.self, from: Data(lines[0])),
            // The record may come from a server, which can send anything.
            (0...Self.maximumBytes).contains(part.loadedByteCount),
            (0...Self.maximumBytes).contains(part.savedByteCount)
        else { return nil }
        self = part
    }

    /// The part as a record.
    package var note: [UInt8] {
        // Encoding strings and numbers does not fail.
        let numbers = [UInt8]((try? JSONEncoder().encode(self)) ?? Data())
        return numbers + Array("\n\(Self.sum(numbers))\n".utf8)
    }

    private static func sum(_ bytes: [UInt8]) -> String {
        String(Checksum(of: bytes.span).value, radix: 16)
    }
}
