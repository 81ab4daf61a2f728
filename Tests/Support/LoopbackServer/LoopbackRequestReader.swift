/// A reader of the requests on a connection, one after another.
struct LoopbackRequestReader {
    private let connection: LoopbackSocket
    private var buffer: [UInt8] = []

    init(_ connection: LoopbackSocket) {
        self.connection = connection
    }

    /// Returns the next request, or `nil` if the client closes the connection before the request is complete.
    mutating func next() -> LoopbackRequest? {
        let end = Array("\r\n\r\n".utf8)
        guard let head = take({ $0.firstRange(of: end)?.upperBound }) else {
            return nil
        }
        let lines = String(decoding: head.dropLast(end.count), as: UTF8.self).split(separator: "\r\n").map(String.init)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var request = LoopbackRequest(
            method: String(words[0]),
            target: String(words[1]),
            headerLines: Array(lines.dropFirst()),
            body: []
        )
        if let length = request.values(of: "content-length").first.flatMap({ Int($0) }) {
            guard let body = take({ $0.count >= length ? length : nil }) else { return nil }
            request.body = body
        }
        return request
    }

    /// Removes and returns the received bytes up to the end that a closure finds. Returns `nil` if the connection ends first.
    private mutating func take(_ end: ([UInt8]) -> Int?) -> [UInt8]? {
        while true {
            if let end = end(buffer) {
                defer { buffer.removeFirst(end) }
                return Array(buffer.prefix(end))
            }
            let part = connection.receive()
            guard !part.isEmpty else { return nil }
            buffer += part
        }
    }
}
