import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The answers that a cache makes from a stored response (RFC 9111 sections 4 and 4.3.2, RFC 9110 sections 13 and 14).
extension StoredResponse {
    /// Returns the answer to a request: the stored response, the part of it that the request asks for, or the news that the caller's
    /// copy is current.
    ///
    /// - Parameters:
    ///   - request: The request, which the response matches.
    ///   - uptime: The current time.
    ///   - cacheStatus: The value of `Cache-Status`.
    /// - Returns: The answer; `nil` if the stored part does not contain what the request asks for.
    func answer(to request: CacheRequest, at uptime: Duration, _ cacheStatus: String) -> DataResponse? {
        let age = HeaderField(made: .age, String(ageInSeconds(at: uptime)))
        let report = HeaderField(made: .cacheStatus, cacheStatus)
        if request.isPlain, range == nil {
            let fields = headerFields.appending(age, report)
            return DataResponse(status: status, headerFields: fields, body: body.data)
        }
        guard var response = specialAnswer(to: request) else { return nil }
        if !request.isGet { response.body = Data() }
        response.headerFields = response.headerFields.appending(age, report)
        return response
    }

    private func specialAnswer(to request: CacheRequest) -> DataResponse? {
        if request.isConditional, isCurrent(for: request) { return notModified }
        // Ranges apply to successful `GET` requests only.
        if let wanted = request.range.flatMap(RequestedRange.init), request.isGet, status == .ok,
            request.headerFields.firstValue(of: .ifRange).map(isVersion) ?? true
        {
            return part(wanted)
        }
        return range == nil ? DataResponse(status: status, headerFields: headerFields, body: body.data) : nil
    }

    /// Returns the answer to a request without asking the upstream for it.
    ///
    /// - Parameters:
    ///   - request: The request, which the response matches.
    ///   - uptime: The current time.
    ///   - status: What the cache did.
    ///   - name: The name of the cache, which is the same in each call.
    /// - Returns: The answer; `nil` if the stored part does not contain what the request asks for.
    func answer(
        to request: CacheRequest,
        at uptime: Duration,
        _ status: CacheStatus,
        of name: String
    ) -> DataResponse? {
        if status == .hit, request.isPlain, range == nil {
            return DataResponse(status: self.status, headerFields: fieldsOfHit(at: uptime, name), body: body.data)
        }
        return answer(to: request, at: uptime, status.fieldValue(of: name, remaining: freshness.remaining(at: uptime)))
    }

    /// Returns the fields of a hit, which are made once a second at most.
    private func fieldsOfHit(at uptime: Duration, _ name: String) -> HeaderFields {
        latestHit.withLock { latest in
            if let latest, latest.made <= uptime, uptime <= latest.end { return latest.fields }
            let age = ageInSeconds(at: uptime)
            let remaining = freshness.remaining(at: uptime)
            let fields = headerFields.appending(
                HeaderField(made: .age, String(age)),
                HeaderField(made: .cacheStatus, CacheStatus.hit.fieldValue(of: name, remaining: remaining))
            )
            // Until the age or the remaining lifetime becomes another number of seconds.
            let end = min(.seconds(age), freshness.lifetime - .seconds(remaining.components.seconds))
            latest = LatestHit(made: uptime, end: freshness.birth + end, fields: fields)
            return fields
        }
    }

    // MARK: Conditions

    /// Returns whether the caller has this version (RFC 9110 section 13.2.2).
    private func isCurrent(for request: CacheRequest) -> Bool {
        guard status == .ok else { return false }
        let tags = request.headerFields.values(of: .ifNoneMatch)
        if !tags.isEmpty { return EntityTag.list(tags, contains: entityTag) }
        guard let since = request.headerFields.date(.ifModifiedSince, near: date) else { return false }
        // Without a modification date, that of the response stands for it (RFC 9111 section 4.3.2).
        return headerFields.date(.lastModified, near: date) ?? date <= since
    }

    /// Returns whether the value of `If-Range` names this version exactly (RFC 9110 section 13.1.5).
    private func isVersion(_ condition: String) -> Bool {
        if let tag = EntityTag(condition) { return entityTag.map(tag.isStronglyEqual) ?? false }
        return headerFields.firstValue(of: .lastModified) == condition
    }

    /// The news that the caller's copy is current, with the fields that it needs for that (RFC 9110 section 15.4.5).
    private var notModified: DataResponse {
        DataResponse(
            status: .notModified,
            headerFields: HeaderFields(headerFields.filter { Self.namesOfNews.contains($0.name) })
        )
    }

    private static let namesOfNews: Set<HeaderField.Name> = [
        .cacheControl, .cdnCacheControl, .contentLocation, .date, .etag, .expires, .vary,
    ]

    // MARK: Parts

    private func part(_ wanted: RequestedRange) -> DataResponse? {
        let stored = range ?? StoredRange(whole: body.data.count)
        guard let count = stored.wholeCount ?? wanted.knownCount(in: stored) else { return nil }
        guard let bytes = wanted.bytes(of: count) else {
            var fields = headerFields
            fields[.contentRange] = "bytes */\(count)"
            fields[.contentLength] = nil
            return DataResponse(status: .rangeNotSatisfiable, headerFields: fields)
        }
        guard stored.bytes.lowerBound <= bytes.lowerBound, bytes.upperBound <= stored.bytes.upperBound else {
            return nil
        }
        var fields = headerFields
        fields[.contentRange] = StoredRange(bytes: bytes, wholeCount: stored.wholeCount).fieldValue
        if fields[.contentLength] != nil { fields[.contentLength] = String(bytes.count) }
        let start = body.data.startIndex - stored.bytes.lowerBound
        // A slice, which shares the memory of the body.
        let slice = body.data[start + bytes.lowerBound..<start + bytes.upperBound]
        return DataResponse(status: .partialContent, headerFields: fields, body: slice)
    }

    // MARK: Age

    /// The age in whole seconds, rounded up, so that the response never appears fresher than it is.
    func ageInSeconds(at uptime: Duration) -> Int64 {
        let (seconds, attoseconds) = freshness.age(at: uptime).components
        return attoseconds > 0 ? seconds + 1 : seconds
    }
}

extension RequestedRange {
    /// Returns a length that the representation has at least, if the requested part lies in the stored one; `nil` if the end of the
    /// representation must be known.
    fileprivate func knownCount(in stored: StoredRange) -> Int? {
        if case .from(_, let last?) = self, last < stored.bytes.upperBound { return stored.bytes.upperBound }
        return nil
    }
}
