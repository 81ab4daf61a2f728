import Foundation

@testable import InwardFetching
@testable import InwardRepositories

/// Follows redirects: the first line is the requested address, and each further line is the target of a redirect.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(12).map(String.init)
    guard let address = lines.first, let url = URL(string: address) else { return 0 }
    let request = DataRequest(url: url, headerFields: fields)
    checkDescription(of: request)
    checkPaths(lines, below: url)
    // A web client does not send other requests.
    guard request.problem == nil else { return 0 }
    follow(lines.dropFirst(), from: request)
    return 0
}

private let secret = "5ecret-0f-the-caller"
private let harmless = HeaderField(.accept, "application/json")
private let named = HeaderField.Name("X-Named") ?? .accept

/// Typical fields of a caller: secrets, one of them under a custom name, a field that the policy names, and a harmless field.
private let fields: HeaderFields = [
    harmless, HeaderField(.authorization, "Bearer \(secret)"), HeaderField(.cookie, "session=\(secret)"),
    HeaderField(HeaderField.Name("X-Of-The-Caller") ?? .cookie, secret), HeaderField(.host, "\(secret).test"),
    HeaderField(.range, secret, isSensitive: true), HeaderField(named, "named"),
]

/// Follows the redirects one after the other.
private func follow(_ locations: ArraySlice<String>, from first: DataRequest) {
    var current = first
    var hasLeft = false
    for (index, location) in locations.enumerated() {
        let status = DataResponse.Status([301, 302, 303, 307, 308][index % 5])
        let response = DataResponse(status: status, headerFields: [HeaderField(.location, location)])
        let next: DataRequest
        do throws(FetchError) {
            guard let redirected = try current.redirected(by: response, sending: [named]) else { continue }
            next = redirected
        } catch {
            precondition(error.reason == .tooLarge || error.reason == .untrusted)
            precondition(!error.description.contains(secret) && error.description.utf8.count <= 20_000)
            continue
        }
        // The request can be sent, and is not exposed to anyone who could not read the previous one.
        precondition(next.problem == nil && next.method == current.method && next.body == nil)
        precondition(scheme(of: next.url) == "https" || scheme(of: current.url) == "http")
        let stays = WebOrigin(next.url) == WebOrigin(current.url)
        precondition(stays == (origin(of: next.url) == origin(of: current.url)))
        hasLeft = hasLeft || !stays
        if hasLeft {
            precondition(Array(next.headerFields) == [harmless, HeaderField(named, "named")])
            precondition(next.url.user() == nil && next.url.password() == nil)
        } else {
            precondition(next.headerFields == current.headerFields)
            precondition(next.url.user() == first.url.user() && next.url.password() == first.url.password())
        }
        checkDescription(of: next)
        current = next
    }
}

/// Returns the scheme of an address as it is sent.
private func scheme(of url: URL) -> String { url.absoluteString.prefix { $0 != ":" }.lowercased() }

/// Returns the scheme, host and port of a web address as it is sent, by RFC 3986 alone: the text between `//` and the path.
private func origin(of url: URL) -> [String] {
    let rest = url.absoluteString.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
    let authority = rest.prefix { !"/?#\\".utf8.contains($0) }
    let place = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? authority
    let end = place.lastIndex(of: UInt8(ascii: "]")) ?? place.startIndex
    let colon = place[end...].lastIndex(of: UInt8(ascii: ":"))
    let host = String(decoding: place[..<(colon ?? place.endIndex)], as: UTF8.self)
    let digits = colon.map { String(decoding: place[place.index(after: $0)...], as: UTF8.self) } ?? ""
    let port = Int(digits).map(String.init) ?? (scheme(of: url) == "https" ? "443" : "80")
    // Only ASCII letters are lowercased, because hosts beyond ASCII are never sent.
    let folded = unescaped(host).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return [scheme(of: url), "\(folded)", port]
}

/// Returns the bytes of a text without percent-encoding.
private func unescaped(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
            bytes.append(number)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}

/// Checks that the description of a request is a line of limited length, without values of query items.
private func checkDescription(of request: DataRequest) {
    let description = request.description
    precondition(description.utf8.count <= DataRequest.maximumAddressBytes + 16)
    precondition(!description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    let origin = WebOrigin(request.url)
    precondition(WebOrigin(request.url.absoluteURL) == origin)
    guard request.url.absoluteString.utf8.count <= DataRequest.maximumAddressBytes else { return }
    let query = description.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    precondition(query.split(separator: "&").allSatisfy { $0 == "…" || $0.hasSuffix("=…") })
}

/// Checks that texts that become path components arrive unchanged.
private func checkPaths(_ texts: [String], below base: URL) {
    let baseURL = base.scheme == nil ? URL(filePath: "/base") : base
    guard DataRequest(url: baseURL).problem == nil, baseURL.query() == nil, baseURL.fragment() == nil else { return }
    let upstream = Upstream(baseURL: baseURL, dataFetcher: UnreachableUpstream())
    for text in texts.prefix(4) where !["", ".", ".."].contains(text) {
        let address = upstream.address(of: ["items", text])
        precondition(WebOrigin(address) == WebOrigin(baseURL) && address.query() == nil && address.fragment() == nil)
        let path = address.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        precondition(path.last.map { unescaped(String($0)) } == Array(text.utf8) && path.dropLast().last == "items")
    }
}

/// A data fetcher that never succeeds.
private struct UnreachableUpstream: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.unreachable, request: request, explanation: "was not sent", wasSent: false)
    }
}
