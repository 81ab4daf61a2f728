#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What becomes of an answer that points elsewhere.
public struct RedirectPolicy: Hashable, Sendable {
    /// How many redirects in a row are followed.
    private let limit: Int?
    /// The header fields that go along to another origin beside those that are known to be harmless.
    private let names: Set<HeaderField.Name>

    /// The redirect itself is the answer.
    public static let returned = Self(limit: nil, names: [])

    /// Redirects of `GET` and `HEAD` to web addresses are followed, this many in a row at most; another one is an error. The
    /// answer then says where it came from.
    ///
    /// Other methods may have changed something before they were redirected, so their redirects are returned. A redirect from
    /// https to http is an error.
    ///
    /// Another origin gets only the header fields that are known to be harmless: those that say what is asked for and in which
    /// form, such as `Accept`, `Range`, `If-None-Match` and `User-Agent`, unless they are sensitive. It gets no credentials,
    /// cookies, trace context or baggage, and no field of the caller's own, but for those that are named here.
    ///
    /// - Parameters:
    ///   - limit: How many redirects in a row are followed.
    ///   - names: The header fields that another origin gets too, whether or not they are sensitive.
    /// - Returns: the policy.
    public static func followed(upTo limit: Int, sendingElsewhere names: Set<HeaderField.Name> = []) -> Self {
        Self(limit: max(0, limit), names: names)
    }

    /// Sends a request, and what redirects make of it, by a function that follows none.
    ///
    /// - Throws: what `send` throws; or a ``FetchError`` with ``FetchError/Reason/tooManyRedirects``, with
    ///   ``FetchError/Reason/untrusted`` if a redirect leads from https to http, or with ``FetchError/Reason/tooLarge`` if its
    ///   address is too long.
    public func answer(
        to request: DataRequest,
        by send: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        var response = try await send(request)
        guard let limit else { return response }
        var current = request
        var count = 0
        while let next = try current.redirected(by: response, sending: names) {
            guard count < limit else {
                let explanation = "was redirected more than \(limit) times, at last to \(next.url.withoutSecrets)"
                throw FetchError(.tooManyRedirects, request: request, explanation: explanation)
            }
            count += 1
            current = next
            response = try await send(next)
            response.url = next.url
        }
        return response
    }
}

extension DataRequest {
    /// Follows a redirect (RFC 9110 section 15.4), unless this request may have changed something: what became of that would be
    /// lost.
    ///
    /// When the origin changes, only header fields that are known to be harmless go along, and those that the caller names.
    /// Credentials that the redirect itself names are never taken up.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - names: The header fields that go along to another origin beside those that are known to be harmless.
    /// - Returns: the request that the answer redirects this one to; `nil` if it does not, or leads to anything but a web address.
    /// - Throws: a ``FetchError`` with ``FetchError/Reason/untrusted`` if the redirect leads from https to http, and with
    ///   ``FetchError/Reason/tooLarge`` if its address is too long.
    func redirected(
        by response: DataResponse,
        sending names: Set<HeaderField.Name>
    ) throws(FetchError) -> DataRequest? {
        guard [.get, .head].contains(method), [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headerFields.values(of: .location).first
        else { return nil }
        try checkLength(location.utf8.count)
        guard let address = URL(string: location, relativeTo: url)?.absoluteURL, address.isWebAddress,
            var components = URLComponents(url: address, resolvingAgainstBaseURL: true)
        else { return nil }
        let staysWithOrigin = WebOrigin(address) == WebOrigin(url)
        components.percentEncodedUser = staysWithOrigin ? url.user() : nil
        components.percentEncodedPassword = staysWithOrigin ? url.password() : nil
        guard let target = components.url else { return nil }
        // A relative address, or one with characters that have to be escaped, becomes longer.
        try checkLength(target.absoluteString.utf8.count)
        guard target.scheme?.lowercased() == "https" || url.scheme?.lowercased() != "https" else {
            let explanation = """
                was redirected from https to http, to \(target.withoutSecrets), which was not followed because anybody on the way \
                could read and change what is sent there; ask for an address that stays with https
                """
            throw FetchError(.untrusted, request: self, explanation: explanation)
        }
        var request = self
        request.url = target
        if !staysWithOrigin { request.headerFields.removeAll { !$0.mayLeaveItsOrigin(besides: names) } }
        return request
    }

    /// Refuses an address that is longer than requests may have.
    private func checkLength(_ byteCount: Int) throws(FetchError) {
        guard byteCount > Self.maximumAddressBytes else { return }
        let explanation =
            "was redirected to an address of \(byteCount) bytes, and \(Self.maximumAddressBytes) are the most allowed"
        throw FetchError(.tooLarge, request: self, explanation: explanation)
    }
}

extension HeaderField {
    /// Whether a redirect to another origin takes this field along.
    fileprivate func mayLeaveItsOrigin(besides names: Set<Name>) -> Bool {
        // Which host is meant is another there.
        if name == .host { return false }
        return names.contains(name) || !isSensitive && Self.harmlessNames.contains(name)
    }

    /// What is asked for, and in which form. No field that says who asks, or in which context.
    private static let harmlessNames = Set(
        [
            "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Type",
            "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
            "User-Agent",
        ].compactMap { Name($0) }
    )
}

/// Who answers for an address: scheme, host and port (RFC 6454). Credentials for one are not for another.
package struct WebOrigin: Hashable, Sendable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    /// The origin of an address, with the port that its scheme implies.
    package init(_ url: URL) {
        scheme = url.scheme?.lowercased()
        // A host whose escapes are not UTF-8 cannot be decoded. It keeps them, so that two such hosts differ.
        host = (url.host(percentEncoded: false) ?? url.host()).map(Self.folded)
        port = url.port ?? ["http": 80, "https": 443][scheme ?? ""]
    }

    /// A host in lower case, as far as names of hosts have cases: those of ASCII. The sign of the Kelvin is not the letter k.
    private static func folded(_ host: String) -> String {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: host.utf8.map { letters.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether anybody on the way to this origin can read what is sent there: it is asked by plain http, and is not this machine.
    package var isExposed: Bool { scheme == "http" && !isLoopback }

    /// Whether this is the machine itself (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3). Any other name,
    /// which has to be looked up, is not.
    private var isLoopback: Bool {
        guard let host else { return false }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "127" {
            // Only as it is usually written. Programs disagree about other forms of a number.
            return parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
        }
        return ["localhost", "::1", "[::1]"].contains(host)
    }
}

extension WebOrigin: CustomStringConvertible {
    /// The origin as RFC 6454 section 6.2 writes it, such as `https://example.org:443`.
    package var description: String { "\(scheme ?? "")://\(host ?? "")\(port.map { ":\($0)" } ?? "")" }
}
