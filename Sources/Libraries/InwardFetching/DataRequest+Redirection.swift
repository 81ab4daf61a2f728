#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
