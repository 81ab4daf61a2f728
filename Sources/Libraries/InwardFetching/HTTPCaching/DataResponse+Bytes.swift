#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataResponse {
    /// About how many bytes it takes to keep this answer to a request. Many answers without a body fill the memory too.
    func bytesToKeep(for request: DataRequest) -> Int {
        let fields = Array(request.headerFields) + Array(headerFields)
        // A name is kept as it was written and in lower case.
        let text = fields.reduce(request.url.absoluteString.utf8.count) { count, field in
            count + 2 * field.name.rawValue.utf8.count + field.value.utf8.count
        }
        return Self.bytesOfAnEntry + text + body.count
    }

    /// What an entry takes beside what it says.
    private static let bytesOfAnEntry = 512
}
