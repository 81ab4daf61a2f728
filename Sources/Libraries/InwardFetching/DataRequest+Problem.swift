#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// Why a web client must not send this, as the end of a sentence that begins with the request; `nil` if it may.
    package var problem: String? {
        guard url.isWebAddress else { return "is not a request for a web address" }
        let byteCount = url.absoluteString.utf8.count
        guard byteCount <= Self.maximumAddressBytes else {
            return "has an address of \(byteCount) bytes, and \(Self.maximumAddressBytes) are the most allowed"
        }
        if body != nil, [.get, .head].contains(method) { return "has a body, which \(method) has not" }
        return headerFields.first { Self.namesOfFraming.contains($0.name.rawValue.lowercased()) }.map { field in
            "has the header field \(field.name), which belongs to the connection"
        }
    }

    /// How many bytes an address may have. RFC 9110 section 4.1 asks for 8,000 at least.
    package static let maximumAddressBytes = 8_192

    /// What says where a message ends. A request that says it itself could hide another one in its body.
    private static let namesOfFraming: Set = [
        "connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}

extension URL {
    /// Whether a web client can find a server by this address.
    var isWebAddress: Bool {
        ["http", "https"].contains(scheme?.lowercased()) && host(percentEncoded: false)?.isEmpty == false
            && port.map((1...65_535).contains) ?? true
    }
}
