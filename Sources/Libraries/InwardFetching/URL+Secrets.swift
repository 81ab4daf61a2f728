#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URL {
    /// This address for people to read: without user name, password and fragment, and with the names in the query alone,
    /// because keys and signatures travel as values. An address that is longer than requests may have is shortened.
    var withoutSecrets: String {
        let whole = wholeWithoutSecrets
        guard whole.utf8.count > DataRequest.maximumAddressBytes else { return whole }
        return whole.prefix(Self.shortenedLength) + "…"
    }

    private static let shortenedLength = 200

    private var wholeWithoutSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return "an unreadable address"
        }
        let names = components.percentEncodedQueryItems?.map { item in
            item.value == nil ? "…" : "\(item.name)=…"
        }
        components.percentEncodedUser = nil
        components.percentEncodedPassword = nil
        components.percentEncodedQuery = nil
        components.percentEncodedFragment = nil
        guard let address = components.string else { return "an unreadable address" }
        return address + (names.map { "?" + $0.joined(separator: "&") } ?? "")
    }
}
