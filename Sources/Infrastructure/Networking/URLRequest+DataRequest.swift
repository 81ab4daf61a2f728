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
        for field in request.headerFields {
            addValue(field.value, forHTTPHeaderField: field.name.rawValue)
        }
    }
}
