import Foundation
import Testing

extension URL {
    /// An address to transfer from or to.
    static func example(_ path: String = "data") throws -> URL {
        try #require(URL(string: "http://upstream.test/\(path)"))
    }
}
