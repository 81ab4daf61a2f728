#if AsyncHTTPClient
import Dispatch
import InwardCore
import InwardFetching

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The resolver of the operating system, which asks the hosts file and DNS.
struct SystemHostResolver: HostResolver {
    /// Where lookups block a thread. Nothing else waits for these threads.
    private static let queue = DispatchQueue(label: "inward.host-resolver", attributes: .concurrent)

    /// Returns the addresses of a host in the order in which the system prefers them (RFC 6724).
    ///
    /// A lookup under way cannot be interrupted. When the task is cancelled or its deadline passes, this method no longer waits
    /// for it.
    func addresses(of host: String) async throws(HostResolutionError) -> [IPAddress] {
        let promise = Promise<Result<[IPAddress], HostResolutionError>>()
        Self.queue.async {
            promise.fulfill(Result { () throws(HostResolutionError) in try Self.lookUp(host) })
        }
        switch await promise.value() {
        case .fulfilled(let result): return try result.get()
        case .cancelled, .deadlinePassed: throw HostResolutionError("the lookup was not awaited")
        }
    }

    private static func lookUp(_ host: String) throws(HostResolutionError) -> [IPAddress] {
        #if canImport(Glibc)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        // `unsafe`: The structure has pointers, which stay null.
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = type
        var list: UnsafeMutablePointer<addrinfo>?
        // `unsafe`: The arguments outlive the call, which writes a list that is freed below.
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { throw HostResolutionError(unsafe String(cString: gai_strerror(status))) }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        // `unsafe`: The entries are valid until the list is freed, after this loop, and the last one has no successor.
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ai_next
            // `unsafe`: The address belongs to the entry, which is still valid.
            if let address = unsafe address(in: entry), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    private static func address(in entry: addrinfo) -> IPAddress? {
        // `unsafe`: The entry owns the address.
        guard let address = unsafe entry.ai_addr else { return nil }
        switch unsafe entry.ai_family {
        case AF_INET:
            // `unsafe`: An address of this family is such a structure, which is copied and then read as bytes.
            let socket = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
            return unsafe withUnsafeBytes(of: socket.sin_addr) { unsafe IPAddress(bytes: $0) }
        case AF_INET6:
            // `unsafe`: As above.
            let socket = unsafe UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)
            return unsafe withUnsafeBytes(of: socket.sin6_addr) { unsafe IPAddress(bytes: $0) }
        default: return nil
        }
    }
}
#endif
