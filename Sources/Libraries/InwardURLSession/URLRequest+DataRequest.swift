import Foundation
import InwardFetching

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
