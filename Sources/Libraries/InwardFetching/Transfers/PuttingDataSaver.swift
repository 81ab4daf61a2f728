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
