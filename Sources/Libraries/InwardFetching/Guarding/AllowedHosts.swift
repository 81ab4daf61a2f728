/// The hosts that an ``AddressPolicy`` allows.
struct AllowedHosts: Hashable {
    private var hosts: Set<WebHost> = []
    /// The domains whose subdomains are allowed.
    private var domains: Set<Substring> = []

    /// Creates a list without hosts.
    init() {}

    /// Whether no host is allowed.
    var isEmpty: Bool { hosts.isEmpty && domains.isEmpty }

    /// Creates a list of hosts.
    ///
    /// - Parameter entries: Names, addresses as in a URL, and domains after a dot, which stand for their subdomains.
    /// - Throws: An ``AddressPolicyError`` that names the first invalid entry.
    init(_ entries: Set<String>) throws(AddressPolicyError) {
        for entry in entries.sorted() {
            let isSuffix = entry.hasPrefix(".")
            do throws(AddressRefusal) {
                let host = try entry.withBytes { bytes throws(AddressRefusal) in
                    try WebHost(bytes.extracting((isSuffix ? 1 : 0)..<bytes.count))
                }
                switch host {
                case .name(let domain) where isSuffix: domains.insert(domain[...])
                case .address where isSuffix: throw AddressRefusal(.numericHost, host: entry)
                case .name, .address: hosts.insert(host)
                }
            } catch {
                throw AddressPolicyError(entry, error)
            }
        }
    }

    /// Returns whether an address is allowed as a host.
    func contains(_ address: IPAddress) -> Bool { hosts.contains(.address(address)) }

    /// Returns the name or domain on the list that allows a name; `nil` if the name is not allowed.
    func entry(allowing name: String) -> String? {
        if hosts.contains(.name(name)) { return name }
        // The domain must begin after a dot, so that `example.org` does not allow `notexample.org`.
        var rest = name[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if domains.contains(rest) { return String(rest) }
        }
        return nil
    }
}
