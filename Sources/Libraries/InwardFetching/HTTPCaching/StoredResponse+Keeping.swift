#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form in which a response outlives the process.
private struct ResponseMetadata: Codable {
    static let currentVersion = 1

    /// The version of this format.
    var version = Self.currentVersion
    /// Whether the response was stored as one for several users.
    let isShared: Bool
    let status: Int
    /// The names and values of the header fields, one after the other.
    let headerFields: [String]
    /// What the response said about caching, also in fields that were not stored.
    let directives: ResponseDirectives
    /// The positions of the first byte and after the last one; `nil` for a whole response.
    let range: [Int]?
    /// The length of the whole, if a part is stored and the length is known.
    let wholeCount: Int?
    /// When the origin server created or last confirmed the response.
    let birth: Date
    let lifetime: Duration
    let variant: Variant
}

extension StoredResponse {
    /// Returns the form in which a store keeps the response; `nil` if it must stay in memory because of credentials, or would have expired.
    ///
    /// - Parameters:
    ///   - moment: The current time.
    ///   - policy: The policy of the cache.
    /// - Returns: The form.
    func kept(at moment: CacheMoment, policy: CachePolicy) -> KeptResponse? {
        guard mayLeaveMemory else { return nil }
        let birth = moment.date.addingTimeInterval(-(freshness.age(at: moment.uptime) / .seconds(1)))
        let expiry = birth.addingTimeInterval((freshness.lifetime + usefulStaleness(policy)) / .seconds(1))
        guard expiry > moment.date else { return nil }
        let metadata = ResponseMetadata(
            isShared: policy.isShared,
            status: status.code,
            headerFields: headerFields.flatMap { [$0.name.rawValue, $0.value] },
            directives: directives,
            range: range.map { [$0.bytes.lowerBound, $0.bytes.upperBound] },
            wholeCount: range?.wholeCount,
            birth: birth,
            lifetime: freshness.lifetime,
            variant: variant
        )
        return (try? JSONEncoder().encode(metadata)).map {
            KeptResponse(metadata: $0, body: body.data, expiry: expiry)
        }
    }

    /// Whether the response may go to a store. It may not if it contains credentials, or if credentials select it.
    var mayLeaveMemory: Bool { !isPersonal && !variant.hasCredentials && !headerFields.haveCredentials }

    /// Returns for how long a stale response can be of use: until it is validated, or in place of an answer.
    private func usefulStaleness(_ policy: CachePolicy) -> Duration {
        if hasValidator { return policy.retention }
        let windows = [
            directives.directives.staleWhileRevalidate, directives.directives.staleIfError, policy.staleLimit,
        ]
        return windows.compactMap(\.self).max() ?? .zero
    }

    /// Reads a response from a store; `nil` if it is of another format or kind of cache, or must not be stored.
    ///
    /// - Parameters:
    ///   - kept: What the store has returned.
    ///   - moment: The current time.
    ///   - policy: The policy of the cache.
    ///   - makeBody: Returns the body with some data.
    convenience init?(
        _ kept: KeptResponse,
        at moment: CacheMoment,
        policy: CachePolicy,
        makeBody: (Data) -> StoredBody
    ) {
        guard let metadata = try? JSONDecoder().decode(ResponseMetadata.self, from: kept.metadata),
            metadata.version == ResponseMetadata.currentVersion, metadata.isShared == policy.isShared,
            let fields = HeaderFields(alternating: metadata.headerFields), !fields.haveCredentials,
            !fields.contains(where: { $0.name == .age || $0.name == .cacheStatus }),
            let made = fields.date(.date, near: moment.date),
            !metadata.directives.directives.forbidStoring(in: policy)
        else { return nil }
        var range: StoredRange?
        if let positions = metadata.range {
            guard positions.count == 2, 0 <= positions[0], positions[0] < positions[1],
                positions[1] - positions[0] == kept.body.count, metadata.wholeCount ?? .max >= positions[1]
            else { return nil }
            range = StoredRange(bytes: positions[0]..<positions[1], wholeCount: metadata.wholeCount)
        }
        let seconds = moment.date.timeIntervalSince(metadata.birth)
        // If the clock was set back to before the birth, the age is unknown, and the response has to be validated.
        let age = seconds >= 0 ? min(seconds, Self.longestAge) : Self.longestAge
        self.init(
            status: DataResponse.Status(metadata.status),
            headerFields: fields,
            body: makeBody(kept.body),
            range: range,
            directives: metadata.directives,
            freshness: ResponseFreshness(
                birth: moment.uptime - .seconds(age),
                lifetime: min(max(.zero, metadata.lifetime), policy.maximumLifetime)
            ),
            date: made,
            variant: metadata.variant,
            isPersonal: false,
            // Everything that this process has asked for is newer.
            number: 0
        )
    }

    /// 300 years in seconds, so that a damaged date cannot make a calculation overflow.
    private static var longestAge: Double { 1e10 }
}

extension CacheDirectives {
    /// Returns whether a response with these directives must not be in a cache.
    fileprivate func forbidStoring(in policy: CachePolicy) -> Bool {
        noStore && !mustUnderstand || isPrivate && policy.isShared
    }
}

extension HeaderFields {
    /// Reads the fields of a response in a store; `nil` if they are in another format.
    init?(kept metadata: Data) {
        guard let metadata = try? JSONDecoder().decode(ResponseMetadata.self, from: metadata) else {
            return nil
        }
        self.init(alternating: metadata.headerFields)
    }

    /// Reads names and values, one after the other; `nil` if a name is invalid, or a value is missing.
    fileprivate init?(alternating texts: [String]) {
        guard texts.count.isMultiple(of: 2) else { return nil }
        self.init()
        for position in stride(from: 0, to: texts.count, by: 2) {
            guard let name = HeaderField.Name(texts[position]) else { return nil }
            append(HeaderField(name, texts[position + 1]))
        }
    }
}
