import Foundation

@testable import InwardFetching

/// Judges bytes as a URL, a host and an address.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    if let address = IPAddress(text) {
        // An address has one canonical form, which is read as the same address.
        precondition(IPAddress("\(address)") == address)
        let host = address.family == .ipv6 ? "[\(address)]" : "\(address)"
        precondition(host.withBytes { try? WebHost($0) } == .address(address))
        // The text is canonical if it is the one that is written.
        precondition(text.withBytes { IPAddress(canonical: $0) } == ("\(address)" == text ? address : nil))
    }
    if let block = IPAddressBlock(text) { precondition(IPAddressBlock("\(block)") == block) }
    if case .name(let name) = text.withBytes({ try? WebHost($0) }) {
        precondition(name.utf8.allSatisfy { $0 < 0x80 } && name == text.lowercased())
    }
    guard let url = URL(string: text), (try? AddressPolicy.publicInternet.check(url)) != nil else { return 0 }
    // What passes is a web URL, and leads to a name or to a public address however a client reads it.
    precondition(url.isWebAddress)
    guard let host = url.host(percentEncoded: false) else { preconditionFailure("A URL without a host passed.") }
    let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    if let address = IPAddress(bare) { precondition((try? AddressPolicy.publicInternet.check(address)) != nil) }
    precondition(url.user() == nil && url.password() == nil)
    precondition([nil, 80, 443].contains(url.port))
    return 0
}
