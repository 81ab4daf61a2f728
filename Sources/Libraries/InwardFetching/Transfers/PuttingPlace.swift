import InwardTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a ``PuttingDataSaver`` puts data, and the requests that it does that by.
struct PuttingPlace: Sendable {
    /// How many bytes are read back at once, at the most.
    private static let readingByteCount = 1_024 * 1_024
    /// No note that was written here has more bytes.
    private static let maximumNoteByteCount = 64 * 1_024

    let url: URL
    let contentType: String
    let pieceByteCount: Int
    let limits: TransferLimits
    let dataFetcher: any DataFetcher

    /// Where the data is put together.
    var part: URL { beside("inward-part") }
    private var state: URL { beside("inward-state") }

    /// Puts bytes at an address; as a part, if it is said where they begin and how many there are, if that is known.
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

    /// What is noted of what was put together; `nil` if it is nothing that can be read.
    func notedPart() async throws(DataSaverError) -> SavedPart? {
        let request = DataRequest(url: state)
        let response = try await response(to: request)
        guard response.status.isSuccess else {
            // A server that gives nothing here has nothing, as far as we are concerned. One that fails is asked again.
            guard (400..<500).contains(response.status.code) else { throw failure(FetchError(response, to: request)) }
            return nil
        }
        guard response.body.count <= Self.maximumNoteByteCount else { return nil }
        return SavedPart(note: [UInt8](response.body))
    }

    /// Notes what was put together.
    func note(_ part: SavedPart) async throws(DataSaverError) {
        try await put(part.note, at: state)
    }

    /// Takes away what was put together, and what is noted of it, if there is any.
    func remove() async throws(DataSaverError) {
        for url in [state, part] {
            let request = DataRequest(method: .delete, url: url)
            let response = try await response(to: request)
            guard response.status.isSuccess || [404, 410].contains(response.status.code) else {
                throw failure(FetchError(response, to: request))
            }
        }
    }

    /// Gives what was put together the address that it is for.
    func publish() async throws(DataSaverError) {
        var request = DataRequest(method: .move, url: part)
        // As secret as the address itself.
        request.headerFields.append(HeaderField(.destination, url.absoluteString, isSensitive: true))
        request.headerFields[.overwrite] = "T"
        try await perform(request)
        // What is left of it is of a part that is not there, and found to be so.
        _ = try? await response(to: DataRequest(method: .delete, url: state))
    }

    /// Reads back what is at an address.
    ///
    /// - Throws: a `DataSaverError` unless it is so many bytes with this checksum.
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
                explanation: "was answered with success, but what is read there is not what was put"
            )
        }
    }

    /// The checksum of the first so many bytes at an address; `nil` if there are fewer, or more where these are to be all.
    func checksum(of count: Int, at url: URL, isAll: Bool) async throws(DataLoaderError) -> Checksum? {
        let readingByteCount = min(pieceByteCount, Self.readingByteCount)
        let loader = FetchingDataLoader(url: url, pieceByteCount: readingByteCount, dataFetcher: dataFetcher)
        var checksum = Checksum()
        var offset = 0
        var validator: String?
        // A server that gives a byte at a time is given up. It cannot give larger pieces than it is asked for.
        var limits = limits
        limits.minimumPieceByteCount = min(limits.minimumPieceByteCount, readingByteCount)
        var counter = PieceCounter(limits)
        while true {
            let loaded = try await loader.piece(at: offset, of: validator)
            do {
                try counter.add(loaded, after: offset)
            } catch {
                throw DataLoaderError(source: "GET \(url.withoutSecrets)", explanation: error.reason)
            }
            let piece = loaded.piece
            guard piece.offset <= offset, offset == 0 || loaded.validator == validator else { return nil }
            let bytes = piece.bytes.dropFirst(offset - piece.offset).prefix(count - offset)
            checksum.update(with: bytes.span)
            offset += bytes.count
            if offset == count, !isAll || piece.isLast {
                return !isAll || piece.offset + piece.bytes.count == count ? checksum : nil
            }
            guard !piece.isLast, !bytes.isEmpty else { return nil }
            validator = loaded.validator
        }
    }

    /// How many bytes are at the address where the data is put together; `nil` if the server does not say.
    func partByteCount(expected: Int) async throws(DataSaverError) -> Int? {
        let loader = FetchingDataLoader(url: part, pieceByteCount: 1, dataFetcher: dataFetcher)
        do {
            return try await loader.piece(at: expected - 1, of: nil).totalByteCount
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

/// What a saver keeps beside a part, to know it again: the numbers as JSON, and their checksum on a line behind, because a number that
/// is damaged would have another run go on from the wrong place.
extension SavedPart {
    /// More bytes are nowhere, and could not be counted on from.
    private static let maximumBytes = 1 << 60

    /// Reads a note; `nil` if it is none, or damaged.
    package init?(note: [UInt8]) {
        let lines = note.split(separator: UInt8(ascii: "\n"))
        guard lines.count == 2, String(decoding: lines[1], as: UTF8.self) == Self.sum(Array(lines[0])),
            let part = try? JSONDecoder().decode(Self.self, from: Data(lines[0])),
            // It may be a server's, which can say what it likes.
            (0...Self.maximumBytes).contains(part.loadedByteCount),
            (0...Self.maximumBytes).contains(part.savedByteCount)
        else { return nil }
        self = part
    }

    /// The part as a note.
    package var note: [UInt8] {
        // Texts and numbers can be written.
        let numbers = [UInt8]((try? JSONEncoder().encode(self)) ?? Data())
        return numbers + Array("\n\(Self.sum(numbers))\n".utf8)
    }

    private static func sum(_ bytes: [UInt8]) -> String {
        String(Checksum(of: bytes.span).value, radix: 16)
    }
}
