public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A data loader that loads the data at a URL in chunks, through a data fetcher.
///
/// Data fetchers return complete bodies, so the loader requests byte ranges (RFC 9110 section 14), all of the same version as
/// the first (`If-Range`). For that, the server must support ranges, and identify versions by a strong entity tag or a
/// modification time. From any other server, the loader loads all data at once, up to a limit.
///
/// ```swift
/// import InwardTransfers
///
/// let loader = FetchingDataLoader(url: url, dataFetcher: client)
/// let first = try await loader.chunk(at: 0, of: nil)
/// print(first.chunk.bytes.count)
/// ```
///
/// Requests tell caches to revalidate and not to store the data, because it would displace everything else.
public struct FetchingDataLoader: DataLoader {
    private static let headerFields = [
        // Ranges of an encoded body cannot be decoded.
        HeaderField(.acceptEncoding, "identity"),
        HeaderField(.cacheControl, "no-cache, no-store"),
    ]

    /// The name of the source, stable across launches; `nil` if it has none.
    public let source: String?

    private let url: URL
    private let dataFetcher: any DataFetcher
    private let chunkByteCount: Int
    private let wholeByteLimit: Int

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - url: The URL of the data.
    ///   - name: The name of the source, stable across launches and free of credentials. If it is `nil`, the URL is the name,
    ///     unless it may contain secrets. Without a name, each launch loads the data from the beginning.
    ///   - chunkByteCount: The number of bytes to request at once, at least 1. The data fetcher must allow bodies of this
    ///     size. Each chunk takes a round trip, so larger chunks are faster over slow connections.
    ///   - wholeByteLimit: The maximum number of bytes from a server that does not support ranges.
    ///   - dataFetcher: The data fetcher for the URL.
    public init(
        url: URL,
        name: String? = nil,
        chunkByteCount: Int = 1_024 * 1_024,
        wholeByteLimit: Int = 64 * 1_024 * 1_024,
        dataFetcher: any DataFetcher
    ) {
        self.url = url
        source = name ?? (url.withoutSecrets == url.absoluteString ? url.absoluteString : nil)
        self.dataFetcher = dataFetcher
        self.chunkByteCount = max(1, chunkByteCount)
        self.wholeByteLimit = max(self.chunkByteCount, wholeByteLimit)
    }

    /// Returns the chunk at an offset, or all data if the server does not support ranges.
    ///
    /// - Throws: A `DataLoaderError` if the response is unsuccessful or invalid.
    public func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        do {
            return try await fetchedChunk(at: max(0, offset), of: validator)
        } catch {
            throw DataLoaderError(error)
        }
    }

    /// Returns whether the server still has a version. It sends a conditional request for the first byte.
    ///
    /// - Throws: A `DataLoaderError` if the response is unsuccessful.
    public func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        var request = request(for: 0...0)
        // This precondition is evaluated first (RFC 9110 section 13.2.2), even by a server that does not support ranges.
        request.headerFields[validator.hasPrefix("\"") ? .ifNoneMatch : .ifModifiedSince] = validator
        do throws(FetchError) {
            let response = try await response(to: request)
            guard response.status != .notModified else { return true }
            guard response.status.isSuccess || response.status == .rangeNotSatisfiable else {
                throw FetchError(response, to: request)
            }
            return response.headerFields.strongValidator == validator
        } catch {
            throw DataLoaderError(error)
        }
    }

    private func fetchedChunk(at offset: Int, of validator: String?) async throws(FetchError) -> LoadedChunk {
        let (last, overflows) = offset.addingReportingOverflow(chunkByteCount - 1)
        var request = request(for: offset...(overflows ? .max : last))
        if let validator { request.headerFields[.ifRange] = validator }
        let response = try await response(to: request)
        switch response.status {
        case .partialContent:
            return try await part(of: response, to: request, at: offset, of: validator)
        case .rangeNotSatisfiable:
            return try await end(of: response, to: request, at: offset, of: validator)
        case _ where response.status.isSuccess:
            return try whole(response, to: request)
        default:
            throw FetchError(response, to: request)
        }
    }

    private func part(
        of response: DataResponse,
        to request: DataRequest,
        at offset: Int,
        of validator: String?
    ) async throws(FetchError) -> LoadedChunk {
        guard case .part(let range, let total) = response.headerFields[.contentRange].flatMap({ ContentRange($0) }),
            range.lowerBound == offset, range.count == response.body.count, range.count <= chunkByteCount
        else {
            throw FetchError(
                .unreadable,
                request: request,
                explanation: "was answered with a different range than requested"
            )
        }
        // A response to `If-Range` may omit fields that the caller already knows (RFC 9110 section 15.3.7).
        let isTagged = response.headerFields[.etag] != nil || response.headerFields[.lastModified] != nil
        let version = isTagged ? response.headerFields.strongValidator : validator
        let isLast = total == range.upperBound + 1
        // Without a validator, nothing shows that other parts belong to the same version.
        guard version != nil || offset == 0 && isLast else { return try await fetchedWhole() }
        return LoadedChunk(
            DataChunk([UInt8](response.body), at: offset, isLast: isLast),
            validator: version,
            totalByteCount: total
        )
    }

    /// Interprets a response that has no data at an offset.
    private func end(
        of response: DataResponse,
        to request: DataRequest,
        at offset: Int,
        of validator: String?
    ) async throws(FetchError) -> LoadedChunk {
        let range = response.headerFields[.contentRange].flatMap { ContentRange($0) }
        guard range == .none(total: offset) else {
            // The server has another, shorter version, or does not say how much data there is.
            return offset > 0 ? try await fetchedChunk(at: 0, of: nil) : try await fetchedWhole()
        }
        let version = response.headerFields.strongValidator ?? validator
        guard version != nil || offset == 0 else { return try await fetchedWhole() }
        return LoadedChunk(
            DataChunk([], at: offset, isLast: true),
            validator: version,
            totalByteCount: offset
        )
    }

    private func fetchedWhole() async throws(FetchError) -> LoadedChunk {
        let request = DataRequest(url: url, headerFields: HeaderFields(Self.headerFields))
        let response = try await response(to: request)
        guard response.status.isSuccess, response.status != .partialContent else {
            throw FetchError(response, to: request)
        }
        return try whole(response, to: request)
    }

    private func whole(_ response: DataResponse, to request: DataRequest) throws(FetchError) -> LoadedChunk {
        LoadedChunk(
            DataChunk([UInt8](response.body), at: 0, isLast: true),
            validator: response.headerFields.strongValidator,
            totalByteCount: response.body.count
        )
    }

    private func response(to request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await dataFetcher.limitingSize(to: wholeByteLimit).fetch(request)
        // A fallback is not the requested data.
        if let fallbackReason = response.fallbackReason { throw fallbackReason }
        if let coding = response.headerFields[.contentEncoding], coding.lowercased() != "identity" {
            throw FetchError(
                .unreadable,
                request: request,
                explanation: "was answered with a body encoded as \(coding), which was not requested"
            )
        }
        return response
    }

    private func request(for range: ClosedRange<Int>) -> DataRequest {
        DataRequest(
            url: url,
            headerFields: HeaderFields(
                Self.headerFields + [HeaderField(.range, "bytes=\(range.lowerBound)-\(range.upperBound)")]
            )
        )
    }
}

extension DataLoaderError {
    fileprivate init(_ error: FetchError) {
        let advice =
            error.reason == .tooLarge
            ? ". If the source is right, raise the loader's `wholeByteLimit`, and the data fetcher's limit if that is lower"
            : ""
        self.init(
            source: error.request,
            explanation: error.explanation + advice,
            meansAbsence: [404, 410].contains(error.status?.code)
        )
    }
}

/// The part of the data that a body contains (RFC 9110 section 14.4).
enum ContentRange: Hashable {
    /// The bytes at these positions, with the total number of bytes if known.
    case part(ClosedRange<Int>, total: Int?)
    /// An unsatisfied range, with the total number of bytes.
    case none(total: Int)

    /// Parses the value of the header field, such as `bytes 0-99/1000`; `nil` if it is invalid or does not count bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Self.number(parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .none(total: total)
            return
        }
        let positions = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard positions.count == 2, let first = Self.number(positions[0]), let last = Self.number(positions[1]),
            first <= last, total != nil || parts[1] == "*", last < total ?? .max
        else { return nil }
        self = .part(first...last, total: total)
    }

    /// Returns a number that consists only of digits.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}

extension HeaderFields {
    /// A strong validator of the version (RFC 9110 section 8.8.1): a strong entity tag, or the modification time if the
    /// response was created at least a minute later, so that the data cannot have changed within the same second.
    var strongValidator: String? {
        if let tag = self[.etag] { return Self.isStrongEntityTag(tag) ? tag : nil }
        guard let text = self[.lastModified], let made = self[.date].flatMap({ Date(httpDate: $0) }),
            let changed = Date(httpDate: text, near: made), made.timeIntervalSince(changed) >= 60
        else { return nil }
        return text
    }

    /// Returns whether a text is a single strong entity tag: text in quotation marks, without further quotation marks.
    package static func isStrongEntityTag(_ tag: String) -> Bool {
        let mark = UInt8(ascii: "\"")
        return tag.utf8.count > 1 && tag.utf8.first == mark && tag.utf8.last == mark
            && !tag.utf8.dropFirst().dropLast().contains(mark)
    }
}
