import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Changes of a stored response by what the upstream says of it later (RFC 9111 sections 3.2, 3.4 and 4.3).
extension StoredResponse {
    /// Returns the request that asks whether a response is still current (RFC 9111 section 4.3.1).
    ///
    /// The conditions of the caller are replaced. They are evaluated again with what the upstream answers.
    ///
    /// - Parameters:
    ///   - responses: The stored responses for the URL.
    ///   - selected: The one that matches the request; `nil` if none does, but one of them may be what the upstream would send.
    ///   - request: The request.
    /// - Returns: The request; `nil` if there is nothing to ask about.
    static func validation(
        of responses: [StoredResponse],
        selected: StoredResponse?,
        for request: CacheRequest
    ) -> DataRequest? {
        var validation = request.request
        validation.headerFields.removeAll { [.ifNoneMatch, .ifModifiedSince, .ifRange, .range].contains($0.name) }
        if let selected {
            // A part can only be confirmed to a request that it answers.
            guard selected.hasValidator, selected.range == nil || selected.answer(to: request, at: .zero, "") != nil
            else {
                return nil
            }
            validation.headerFields[.ifNoneMatch] = selected.headerFields.firstValue(of: .etag)
            validation.headerFields[.ifModifiedSince] = selected.headerFields.firstValue(of: .lastModified)
            return validation
        }
        // Only strong tags name a representation among all of a URL.
        let tags = responses.filter { $0.range == nil }.compactMap(\.entityTag).filter { !$0.isWeak }.map(\.opaqueTag)
        guard !tags.isEmpty else { return nil }
        validation.headerFields[.ifNoneMatch] = tags.joined(separator: ", ")
        return validation
    }

    /// Returns the response that a 304 confirms (RFC 9111 section 4.3.4); `nil` if it confirms none of them.
    ///
    /// - Parameters:
    ///   - confirmation: The response with the status 304.
    ///   - responses: The stored responses that the request named.
    /// - Returns: The response.
    static func confirmed(by confirmation: DataResponse, among responses: [StoredResponse]) -> StoredResponse? {
        if let text = confirmation.headerFields.firstValue(of: .etag) {
            guard let tag = EntityTag(text) else {
                // A tag that is malformed can only be compared as it is.
                return responses.mostRecent { $0.headerFields.firstValue(of: .etag) == text }
            }
            if !tag.isWeak { return responses.mostRecent { $0.entityTag.map(tag.isStronglyEqual) ?? false } }
            return responses.mostRecent { $0.entityTag.map(tag.isWeaklyEqual) ?? false }
        }
        if let modified = confirmation.headerFields.firstValue(of: .lastModified) {
            return responses.mostRecent { $0.headerFields.firstValue(of: .lastModified) == modified }
        }
        return responses.count == 1 ? responses.first : nil
    }

    /// Returns the response with the header fields of a later one (RFC 9111 section 3.2).
    ///
    /// - Parameters:
    ///   - update: A response with the status 304, or to a `HEAD` request.
    ///   - request: The request, which also selects the variant.
    ///   - sent: When the request was sent.
    ///   - arrival: When the update arrived.
    ///   - number: The number of the request.
    ///   - policy: The policy of the cache.
    /// - Returns: The updated response; `nil` if it must not be stored any longer.
    func updated(
        by update: DataResponse,
        to request: CacheRequest,
        sent: CacheMoment,
        arrival: CacheMoment,
        number: Int,
        policy: CachePolicy
    ) -> StoredResponse? {
        var whole = DataResponse(status: range == nil ? status : .partialContent, body: body.data)
        whole.headerFields = headerFields(updatedBy: update, policy: policy)
        if let range { whole.headerFields[.contentRange] = range.fieldValue }
        return StoredResponse(
            whole,
            to: request,
            sent: sent,
            arrival: arrival,
            number: number,
            policy: policy,
            // If it has no `Vary` field, it keeps the variant that it got from the others when it was stored.
            siblings: [self],
            wasPersonal: isPersonal,
            body: { _ in body }
        )
    }

    /// Returns the response with the header fields of a later one, for one answer, because it must not be stored any longer.
    func answerable(updatedBy update: DataResponse, policy: CachePolicy) -> StoredResponse {
        StoredResponse(
            status: status,
            headerFields: headerFields(updatedBy: update, policy: policy),
            body: body,
            range: range,
            directives: directives,
            freshness: freshness,
            date: date,
            variant: variant,
            isPersonal: isPersonal,
            number: number
        )
    }

    private func headerFields(updatedBy update: DataResponse, policy: CachePolicy) -> HeaderFields {
        let applying = ResponseDirectives(update.headerFields, for: policy)
        let news = update.headerFields.storableFields(applying, policy: policy).filter {
            !Self.namesOfStoredBody.contains($0.name) && $0.name != .cacheStatus
        }
        return headerFields.updated(by: news)
    }

    /// The fields that describe the stored body, which an update does not contain.
    private static let namesOfStoredBody: Set<HeaderField.Name> = [
        .contentEncoding, .contentLength, .contentRange,
    ]

    /// Returns whether a response to a `HEAD` request describes the stored one (RFC 9111 section 4.3.5).
    func isDescribed(by response: DataResponse) -> Bool {
        [HeaderField.Name.etag, .lastModified, .contentLength].allSatisfy { name in
            response.headerFields.firstValue(of: name).map { $0 == headerFields.firstValue(of: name) } ?? true
        }
    }

    // MARK: Parts

    /// Returns the request for the rest of a representation whose beginning is stored (RFC 9111 section 3.3); `nil` if this is something
    /// else, or could not be combined with the rest.
    ///
    /// If the representation has changed, the upstream sends all of it.
    func completion(for request: CacheRequest) -> DataRequest? {
        guard let range, range.bytes.lowerBound == 0, let count = range.wholeCount, range.bytes.upperBound < count,
            let tag = entityTag, !tag.isWeak, request.isGet, request.range == nil, !request.isConditional
        else { return nil }
        var completion = request.request
        completion.headerFields[.range] = "bytes=\(range.bytes.upperBound)-"
        completion.headerFields[.ifRange] = tag.opaqueTag
        return completion
    }

    /// Returns the response that combines two parts of one representation (RFC 9111 section 3.4); `nil` if they do not share a strong
    /// entity tag, or leave a gap.
    ///
    /// - Parameter older: The part that was stored before.
    /// - Returns: The combined response, with the fields of this one.
    func combined(with older: StoredResponse) -> StoredResponse? {
        guard let tag = entityTag, let olderTag = older.entityTag, tag.isStronglyEqual(to: olderTag) else { return nil }
        let (mine, theirs) = (storedRange, older.storedRange)
        guard mine.wholeCount == nil || theirs.wholeCount == nil || mine.wholeCount == theirs.wholeCount,
            mine.bytes.lowerBound <= theirs.bytes.upperBound, theirs.bytes.lowerBound <= mine.bytes.upperBound
        else { return nil }
        var data = Data()
        if theirs.bytes.lowerBound < mine.bytes.lowerBound {
            data += older.body.data.prefix(mine.bytes.lowerBound - theirs.bytes.lowerBound)
        }
        data += body.data
        if theirs.bytes.upperBound > mine.bytes.upperBound {
            data += older.body.data.suffix(theirs.bytes.upperBound - mine.bytes.upperBound)
        }
        let start = min(mine.bytes.lowerBound, theirs.bytes.lowerBound)
        let combined = StoredRange(bytes: start..<start + data.count, wholeCount: mine.wholeCount ?? theirs.wholeCount)
        var fields = headerFields
        fields[.contentRange] = nil
        fields[.contentLength] = String(data.count)
        return StoredResponse(
            status: status,
            headerFields: fields,
            body: StoredBody(data),
            range: combined.isWhole ? nil : combined,
            directives: directives,
            freshness: freshness,
            date: date,
            variant: variant,
            isPersonal: isPersonal || older.isPersonal,
            number: number
        )
    }

    /// Returns a part of this representation with the header fields that only this one has; `nil` if it is not known to be one.
    func updating(_ part: DataResponse) -> DataResponse? {
        guard part.status == .partialContent, let tag = entityTag,
            part.headerFields.firstValue(of: .etag).flatMap(EntityTag.init).map(tag.isStronglyEqual) ?? false
        else { return nil }
        var updated = part
        updated.headerFields = headerFields.updated(by: Array(part.headerFields))
        updated.headerFields[.contentLength] = part.headerFields[.contentLength]
        return updated
    }

    /// The stored part of the representation.
    private var storedRange: StoredRange { range ?? StoredRange(whole: body.data.count) }
}

extension HeaderFields {
    /// Returns these fields and those of a later response, which replace fields with the same names (RFC 9111 section 3.2).
    ///
    /// The date is not kept, because the later response has another one even if it does not state it.
    fileprivate func updated(by news: [HeaderField]) -> HeaderFields {
        let replaced = Set(news.map(\.name)).union([.date])
        return HeaderFields(filter { !replaced.contains($0.name) } + news)
    }
}

extension [StoredResponse] {
    /// Returns the response with the latest date of those that satisfy a condition; of several the last one.
    fileprivate func mostRecent(where condition: (StoredResponse) -> Bool) -> StoredResponse? {
        reduce(nil) { latest, response in
            guard condition(response) else { return latest }
            return latest.map { $0.date > response.date ? $0 : response } ?? response
        }
    }
}
