import Foundation
import InwardFetching
public import InwardTesting

extension LoopbackAnswer {
    /// Creates the answer of a conformance upstream to a request.
    public init(to request: LoopbackRequest, of upstream: ConformanceUpstream) {
        guard let request = DataRequest(request) else {
            self = .whole(status: 400)
            return
        }
        self =
            switch upstream.answer(to: request) {
            case .whole(let response):
                .whole(
                    status: response.status.code,
                    headerLines: response.headerFields.map { "\($0.name): \($0.value)" },
                    body: Array(response.body)
                )
            case .cutShort(let part, let length): .raw(Self.beginning(part, of: length))
            case .unfinished(let part, let length): .begun(Self.beginning(part, of: length))
            case .never: .never
            }
    }

    /// Returns a head and the beginning of the body. Without a length, the body is chunked.
    private static func beginning(_ part: Data, of length: Int?) -> [UInt8] {
        let (framing, chunk) =
            if let length {
                ("Content-Length: \(length)", Array(part))
            } else {
                (
                    "Transfer-Encoding: chunked",
                    Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
                )
            }
        return Array("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8) + chunk
    }
}

extension DataRequest {
    fileprivate init?(_ request: LoopbackRequest) {
        guard let method = Method(request.method), let url = URL(string: "http://127.0.0.1\(request.target)") else {
            return nil
        }
        let fields = request.headerLines.compactMap { line -> HeaderField? in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.first.flatMap(HeaderField.Name.init).map { HeaderField($0, parts.dropFirst().first ?? "") }
        }
        self.init(
            method: method,
            url: url,
            headerFields: HeaderFields(fields),
            body: request.body.isEmpty ? nil : Data(request.body)
        )
    }
}
