import Foundation

@testable import InwardFetching

/// Reads bytes as a request, a response and an update, one header field per line and an empty line between them, and lets a cache decide
/// about them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    let parts = text.split(separator: "\n\n", maxSplits: 3, omittingEmptySubsequences: false).map(fields)
    guard parts.count >= 2, let url = URL(string: "http://upstream.test/") else { return 0 }
    let request = CacheRequest(DataRequest(url: url, headerFields: parts[0]))
    var response = DataResponse(headerFields: parts[1], body: Data(repeating: 0x61, count: count % 50))
    if parts[1].firstValue(of: .contentRange) != nil { response.status = .partialContent }
    for policy in [CachePolicy.private, .shared] {
        let sent = CacheMoment(uptime: .seconds(100), date: now)
        let arrival = CacheMoment(uptime: .seconds(101), date: now)
        let stored = StoredResponse(
            response,
            to: request,
            sent: sent,
            arrival: arrival,
            number: 1,
            policy: policy
        )
        guard let stored else { continue }
        check(stored, request, policy)
        guard parts.count > 2 else { continue }
        let update = DataResponse(status: .notModified, headerFields: parts[2])
        let updated = stored.updated(by: update, to: request, sent: sent, arrival: arrival, number: 2, policy: policy)
        guard let updated else { continue }
        check(updated, request, policy)
        precondition(updated.body === stored.body && updated.range == stored.range)
        _ = StoredResponse.confirmed(by: update, among: [stored])
        _ = stored.isDescribed(by: update)
        if let combined = updated.combined(with: stored) {
            precondition(combined.body.data.count >= stored.body.data.count)
        }
    }
    return 0
}

/// November 6, 1994.
private let now = Date(timeIntervalSince1970: 784_111_777)

private func fields(_ text: Substring) -> HeaderFields {
    HeaderFields(
        text.split(separator: "\n").prefix(32).compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count < 2 ? nil : HeaderField.Name(String(parts[0])).map { HeaderField($0, String(parts[1])) }
        }
    )
}

private func check(_ stored: StoredResponse, _ request: CacheRequest, _ policy: CachePolicy) {
    // What forbids storing was obeyed.
    let directives = stored.directives.directives
    precondition(!request.directives.noStore)
    precondition(!directives.noStore || directives.mustUnderstand)
    precondition(!policy.isShared || !directives.isPrivate)
    // The request that was answered selects what was stored.
    precondition(stored.variant.matches(request) && stored.variant.selected(by: request) == stored.variant)
    for uptime in [Duration.seconds(101), .seconds(110), .seconds(4_000), .seconds(100_000_000)] {
        precondition(stored.freshness.age(at: uptime) >= .zero)
        let reuse = CacheReuse(of: stored, for: request, at: uptime, policy: policy)
        if directives.noCache || request.directives.noCache {
            guard case .afterValidation = reuse else { preconditionFailure("It must be validated.") }
        }
        if reuse == .fresh { precondition(stored.freshness.remaining(at: uptime) > .zero) }
        if stored.forbidsStaleUse(in: policy), stored.freshness.remaining(at: uptime) <= .zero {
            guard case .afterValidation = reuse else { preconditionFailure("It must not be used stale.") }
            precondition(!stored.isUsable(after: .noAnswer, for: request, at: uptime, policy: policy))
        }
        guard let answer = stored.answer(to: request, at: uptime, "Inward; hit") else { continue }
        precondition(answer.headerFields.firstValue(of: .age) == String(stored.ageInSeconds(at: uptime)))
        precondition(answer.body.count <= stored.body.data.count)
    }
    if let validation = StoredResponse.validation(of: [], selected: stored, for: request) {
        precondition(validation.headerFields.firstValue(of: .range) == nil)
    }
}
