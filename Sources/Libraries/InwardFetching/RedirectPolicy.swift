#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The policy for redirects of an HTTP client.
///
/// ```swift
/// let strict = RedirectPolicy.returned
/// let usual = RedirectPolicy.followed(upTo: 5)
/// ```
public struct RedirectPolicy: Hashable, Sendable {
    /// The maximum number of consecutive redirects; `nil` to return redirects as responses.
    private let limit: Int?
    /// The header fields to send to another origin besides those known to be harmless.
    private let names: Set<HeaderField.Name>

    /// A policy that returns redirects as responses.
    public static let returned = Self(limit: nil, names: [])

    /// Returns a policy that follows redirects of `GET` and `HEAD` to web URLs, and reports the final URL in the response.
    /// Redirects above the limit are errors.
    ///
    /// Redirects of other methods are returned as responses, because the request may have taken effect before it was
    /// redirected. A redirect from HTTPS to HTTP is an error.
    ///
    /// Another origin receives only header fields that describe the requested data and its form, such as `Accept`, `Range`,
    /// `If-None-Match` and `User-Agent`, unless they are sensitive. It receives no credentials, cookies, trace context, baggage
    /// or custom fields, except those that you name here.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of consecutive redirects.
    ///   - names: The header fields to send to another origin as well, even if they are sensitive.
    /// - Returns: The policy.
    public static func followed(upTo limit: Int, sendingElsewhere names: Set<HeaderField.Name> = []) -> Self {
        Self(limit: max(0, limit), names: names)
    }

    /// Sends a request and follows its redirects. Clients call this with a function that sends one request, and follows no
    /// redirects itself.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - addressGuard: Checks the URL of each redirect as the response has it, so that user information in it is refused;
    ///     `nil` for no check. `send` makes all checks of the request that it sends.
    ///   - send: Sends one request.
    /// - Returns: The response that is not redirected.
    /// - Throws: Errors from `send`; a ``FetchError`` with ``FetchError/Reason/tooManyRedirects``, with
    ///   ``FetchError/Reason/untrusted`` if a redirect leads from HTTPS to HTTP, with ``FetchError/Reason/tooLarge`` if
    ///   its URL is too long, or with ``FetchError/Reason/addressRefused`` if the guard refuses it.
    public func answer(
        to request: DataRequest,
        guardedBy addressGuard: AddressGuard? = nil,
        by send: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        var response = try await send(request)
        guard let limit else { return response }
        var current = request
        var count = 0
        while let next = try current.redirected(by: response, sending: names, guardedBy: addressGuard) {
            guard count < limit else {
                let explanation = "was redirected more than \(limit) times, most recently to \(next.url.withoutSecrets)"
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
    /// Returns the request that a redirect leads to (RFC 9110 section 15.4). Only `GET` and `HEAD` are redirected, because
    /// the outcome of a request that may have changed something would be lost.
    ///
    /// When the origin changes, the request keeps only header fields known to be harmless and those that the caller names.
    /// Credentials in the redirect's URL are never used.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - names: The header fields to send to another origin besides those known to be harmless.
    ///   - addressGuard: Checks the URL before credentials are removed from it; `nil` for no check.
    /// - Returns: The redirected request; `nil` if the response is not a redirect, or leads to something other than a web
    ///   URL.
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/untrusted`` if the redirect leads from HTTPS to HTTP, with
    ///   ``FetchError/Reason/tooLarge`` if its URL is too long, and with ``FetchError/Reason/addressRefused`` if the guard
    ///   refuses it.
    func redirected(
        by response: DataResponse,
        sending names: Set<HeaderField.Name>,
        guardedBy addressGuard: AddressGuard? = nil
    ) throws(FetchError) -> DataRequest? {
        guard [.get, .head].contains(method), [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headerFields.values(of: .location).first
        else { return nil }
        try checkLength(location.utf8.count)
        guard let address = URL(string: location, relativeTo: url)?.absoluteURL, address.isWebAddress,
            var components = URLComponents(url: address, resolvingAgainstBaseURL: true)
        else { return nil }
        try addressGuard?.check(DataRequest(method: method, url: address))
        let staysWithOrigin = WebOrigin(address) == WebOrigin(url)
        components.percentEncodedUser = staysWithOrigin ? url.user() : nil
        components.percentEncodedPassword = staysWithOrigin ? url.password() : nil
        guard let target = components.url else { return nil }
        // Resolving a relative URL or escaping characters makes it longer.
        try checkLength(target.absoluteString.utf8.count)
        guard target.scheme?.lowercased() == "https" || url.scheme?.lowercased() != "https" else {
            let explanation = """
                was redirected from https to http, to \(target.withoutSecrets), which was not followed, because anyone on the \
                network path could read and change the request. Use a URL that stays on https
                """
            throw FetchError(.untrusted, request: self, explanation: explanation)
        }
        var request = self
        request.url = target
        if !staysWithOrigin { request.headerFields.removeAll { !$0.mayLeaveItsOrigin(besides: names) } }
        return request
    }

    /// Throws if a URL exceeds the length limit of requests.
    private func checkLength(_ byteCount: Int) throws(FetchError) {
        guard byteCount > Self.maximumAddressBytes else { return }
        let explanation =
            "was redirected to a URL of \(byteCount) bytes, and the maximum is \(Self.maximumAddressBytes)"
        throw FetchError(.tooLarge, request: self, explanation: explanation)
    }
}

extension HeaderField {
    /// Returns whether the field is kept when a redirect leads to another origin.
    fileprivate func mayLeaveItsOrigin(besides names: Set<Name>) -> Bool {
        // The field would name the wrong host.
        if name == .host { return false }
        return names.contains(name) || !isSensitive && Self.harmlessNames.contains(name)
    }

    /// Fields that describe the requested data and its form, but neither the caller nor the context.
    private static let harmlessNames = Set(
        [
            "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Type",
            "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Pragma", "Range",
            "User-Agent",
        ].compactMap { Name($0) }
    )
}

/// The origin of a URL: its scheme, host and port (RFC 6454). Credentials for one origin must not be sent to another.
package struct WebOrigin: Hashable, Sendable {
    private let scheme: String?
    private let host: String?
    private let port: Int?

    /// Creates the origin of a URL, with the default port of its scheme if it has none.
    package init(_ url: URL) {
        scheme = url.scheme?.lowercased()
        // A host whose percent escapes are not UTF-8 cannot be decoded. It stays escaped, so that two such hosts differ.
        host = (url.host(percentEncoded: false) ?? url.host()).map(Self.folded)
        port = url.port ?? ["http": 80, "https": 443][scheme ?? ""]
    }

    /// Returns a host with ASCII letters in lower case. Other characters have no case in host names: the Kelvin sign is not
    /// the letter k.
    private static func folded(_ host: String) -> String {
        let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: host.utf8.map { letters.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Whether requests to this origin can be read on the network path, because it uses plain HTTP and is not this machine.
    package var isExposed: Bool { scheme == "http" && !isLoopback }

    /// Whether the origin is this machine (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3, RFC 6761 section 6.3). Other
    /// names never count, because only a lookup could tell.
    private var isLoopback: Bool {
        guard let host else { return false }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, parts[0] == "127" {
            // Only canonical numbers, because programs disagree about other forms, such as leading zeros.
            return parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
        }
        return ["localhost", "::1", "[::1]"].contains(host)
    }
}

extension WebOrigin: CustomStringConvertible {
    /// The origin in the form of RFC 6454 section 6.2, such as `https://example.org:443`.
    package var description: String { "\(scheme ?? "")://\(host ?? "")\(port.map { ":\($0)" } ?? "")" }
}
