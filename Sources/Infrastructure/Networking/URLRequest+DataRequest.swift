import Foundation
import InterfaceAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The platform's form of a request.
    init(_ request: DataRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        httpBody = request.body
        // Otherwise the platform says that it is a form.
        if request.body != nil { setValue("application/octet-stream", forHTTPHeaderField: "Content-Type") }
        for (name, fields) in Dictionary(grouping: request.headerFields, by: \.name) {
            // RFC 6265 section 5.4: cookies are the one list that commas do not separate.
            let separator = name == .cookie ? "; " : ", "
            setValue(fields.map(\.value).joined(separator: separator), forHTTPHeaderField: name.rawValue)
        }
    }
}

extension DataRequest {
    /// Why a web client cannot send this, as the end of a sentence that begins with the request; `nil` if it can.
    var problem: String? {
        guard ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false,
            url.port.map((1...65_535).contains) ?? true
        else { return "is not a request for a web address" }
        if body != nil, [.get, .head].contains(method) { return "has a body, which \(method) has not" }
        return headerFields.first { Self.namesOfFraming.contains($0.name.rawValue.lowercased()) }.map { field in
            "has the header field \(field.name), which belongs to the connection"
        }
    }

    /// What says where a message ends. A request that says it itself could hide another one in its body.
    private static let namesOfFraming: Set = [
        "connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
