public import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Loads the data at an address, piece by piece, through a data fetcher.
///
/// A data fetcher answers with whole bodies, so pieces are asked for by byte ranges (RFC 9110 section 14), each of the version that
/// the first one was of (`If-Range`). That takes a source which knows ranges and says what version it has, by a strong entity tag
/// or the time of the last change. What any other source answers is taken whole, within a limit.
///
/// Caches on the way are told to ask the source, and to keep nothing: what is large would take the place of all else.
public struct FetchingDataLoader: DataLoader {
    private static let headerFields = [
        // Parts of what is encoded are of no use.
        HeaderField(.acceptEncoding, "identity"),
        HeaderField(.cacheControl, "no-cache, no-store"),
    ]

    /// What the source is called, the same in each run; `nil` if it has no such name.
    public let source: String?

    private let url: URL
    private let dataFetcher: any DataFetcher
    private let pieceByteCount: Int
    private let wholeByteLimit: Int

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - url: Where the data is.
    ///   - name: What the source is called, the same in each run and free of credentials; `nil` for its address, unless that has a
    ///     part that may be secret. What has no name is loaded from its beginning in each run.
    ///   - pieceByteCount: How many bytes are asked for at once, at least 1. The data fetcher has to allow them. Each takes a way
    ///     there and back, so over a long one more are faster.
    ///   - wholeByteLimit: How many bytes may come at once from a source that knows no ranges.
    ///   - dataFetcher: What answers for the address.
    public init(
        url: URL,
        name: String? = nil,
        pieceByteCount: Int = 1_024 * 1_024,
        wholeByteLimit: Int = 64 * 1_024 * 1_024,
        dataFetcher: any DataFetcher
    ) {
        self.url = url
        source = name ?? (url.withoutSecrets == url.absoluteString ? url.absoluteString : nil)
        self.dataFetcher = dataFetcher
        self.pieceByteCount = max(1, pieceByteCount)
        self.wholeByteLimit = max(self.pieceByteCount, wholeByteLimit)
    }

    /// The bytes from an offset on, or all there are.
    ///
    /// - Throws: a `DataLoaderError` if the source has no answer of success to give, or one that cannot be understood.
    public func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece {
        do {
            return try await fetchedPiece(at: max(0, offset), of: validator)
        } catch {
            throw DataLoaderError(error)
        }
    }

    /// Whether the source says that it has still the same, or gives a first byte of the same.
    ///
    /// - Throws: a `DataLoaderError` if the source has no answer of success to give.
    public func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        var request = request(for: 0...0)
        // RFC 9110 section 13.2.2: this comes first, and a source that knows no ranges heeds it too.
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

    private func fetchedPiece(at offset: Int, of validator: String?) async throws(FetchError) -> LoadedPiece {
        var request = request(for: offset...(offset + pieceByteCount - 1))
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
    ) async throws(FetchError) -> LoadedPiece {
        guard case .part(let range, let total) = response.headerFields[.contentRange].flatMap({ ContentRange($0) }),
            range.lowerBound == offset, range.count == response.body.count, range.count <= pieceByteCount
        else {
            throw FetchError(
                .unreadable,
                request: request,
                explanation: "was answered with another part than was asked for"
            )
        }
        // RFC 9110 section 15.3.7: an answer to `If-Range` need not repeat what the caller knows.
        let isTagged = response.headerFields[.etag] != nil || response.headerFields[.lastModified] != nil
        let version = isTagged ? response.headerFields.strongValidator : validator
        let isLast = total == range.upperBound + 1
        // Without a validator nothing tells that another part would belong to this one.
        guard version != nil || offset == 0 && isLast else { return try await fetchedWhole() }
        return LoadedPiece(
            DataPiece([UInt8](response.body), at: offset, isLast: isLast),
            validator: version,
            totalByteCount: total
        )
    }

    /// What it means that there is nothing at an offset.
    private func end(
        of response: DataResponse,
        to request: DataRequest,
        at offset: Int,
        of validator: String?
    ) async throws(FetchError) -> LoadedPiece {
        let range = response.headerFields[.contentRange].flatMap { ContentRange($0) }
        guard range == .none(total: offset) else {
            // Of another version, which is shorter; or it is not said what there is.
            return offset > 0 ? try await fetchedPiece(at: 0, of: nil) : try await fetchedWhole()
        }
        let version = response.headerFields.strongValidator ?? validator
        guard version != nil || offset == 0 else { return try await fetchedWhole() }
        return LoadedPiece(
            DataPiece([], at: offset, isLast: true),
            validator: version,
            totalByteCount: offset
        )
    }

    private func fetchedWhole() async throws(FetchError) -> LoadedPiece {
        let request = DataRequest(url: url, headerFields: HeaderFields(Self.headerFields))
        let response = try await response(to: request)
        guard response.status.isSuccess, response.status != .partialContent else {
            throw FetchError(response, to: request)
        }
        return try whole(response, to: request)
    }

    private func whole(_ response: DataResponse, to request: DataRequest) throws(FetchError) -> LoadedPiece {
        LoadedPiece(
            DataPiece([UInt8](response.body), at: 0, isLast: true),
            validator: response.headerFields.strongValidator,
            totalByteCount: response.body.count
        )
    }

    private func response(to request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await dataFetcher.limitingSize(to: wholeByteLimit).fetch(request)
        // What another has says nothing of the one that was asked.
        if let fallbackReason = response.fallbackReason { throw fallbackReason }
        if let coding = response.headerFields[.contentEncoding], coding.lowercased() != "identity" {
            throw FetchError(
                .unreadable,
                request: request,
                explanation: "was answered with a body encoded as \(coding), which was not asked for"
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
            ? ". Raise the loader's `wholeByteLimit`, and the data fetcher's limit if it is lower, if the source is right"
            : ""
        self.init(
            source: error.request,
            explanation: error.explanation + advice,
            meansAbsence: [404, 410].contains(error.status?.code)
        )
    }
}

/// Which part of all there is a body is (RFC 9110 section 14.4).
enum ContentRange: Hashable {
    /// The bytes of these positions, of so many, if that is known.
    case part(ClosedRange<Int>, total: Int?)
    /// None, for there are only so many.
    case none(total: Int)

    /// Reads the value of the header field, such as `bytes 0-99/1000`; `nil` if it is none of bytes.
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

    /// A number of digits alone.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}

extension HeaderFields {
    /// What tells this version from any other, byte for byte (RFC 9110 section 8.8.1): a strong entity tag, or the time of the
    /// last change if the answer was made a minute later at least, so that nothing can have changed within the same second.
    var strongValidator: String? {
        if let tag = self[.etag] { return Self.isStrong(tag) ? tag : nil }
        guard let text = self[.lastModified], let changed = Date(httpDate: text),
            let made = self[.date].flatMap({ Date(httpDate: $0) }), made.timeIntervalSince(changed) >= 60
        else { return nil }
        return text
    }

    /// Whether a text is one entity tag, and a strong one: text between quotation marks, without another one.
    private static func isStrong(_ tag: String) -> Bool {
        let mark = UInt8(ascii: "\"")
        return tag.utf8.count > 1 && tag.utf8.first == mark && tag.utf8.last == mark
            && !tag.utf8.dropFirst().dropLast().contains(mark)
    }
}
