import Foundation

/// The server at one address.
struct Server: Sendable {
    /// The URL of the file to request.
    let file: URL
    /// The URL whose answer names the protocol that it came over.
    let `protocol`: URL

    /// Creates a server at an address such as `http://127.0.0.1:8080`; `nil` if that is not a URL.
    init?(_ address: String) {
        guard let base = URL(string: address) else { return nil }
        file = base.appending(path: "kibibyte.txt")
        `protocol` = base.appending(path: "protocol")
    }
}
