#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A TCP socket on the loopback interface.
///
/// Every `unsafe` here is a system call that reads or writes one value or one buffer. The value or buffer lives until the call
/// returns, and the call stays within the size that it is passed.
struct LoopbackSocket: Hashable, Sendable {
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    private let descriptor: Int32

    /// Returns a socket that listens on a free port, and the port.
    static func listening() throws -> (LoopbackSocket, port: Int) {
        let (socket, port) = try bound()
        _ = try check("listen", listen(socket.descriptor, 512))
        return (socket, port)
    }

    /// Returns a socket that occupies a free port and refuses connections, and the port.
    static func bound() throws -> (LoopbackSocket, port: Int) {
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        let descriptor = try check("socket", socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // `unsafe`: a `sockaddr_in` may be passed as a `sockaddr`, whose layout it starts with, together with its own length.
        // Both calls stay within that length, and the pointer does not escape the closures.
        try unsafe withUnsafeMutablePointer(to: &address) { pointer in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // `unsafe`: `length` is the size of the variable that `address` points to.
                _ = try check("bind", unsafe bind(descriptor, address, length))
                _ = try check("getsockname", unsafe getsockname(descriptor, address, &length))
            }
        }
        return (LoopbackSocket(descriptor: descriptor), Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Waits for the next connection. Returns `nil` if it fails, and always once the socket is shut down.
    func accept() -> LoopbackSocket? {
        #if canImport(Glibc)
        let connection = Glibc.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
        let connection = Musl.accept(descriptor, nil, nil)
        #else
        let connection = Darwin.accept(descriptor, nil, nil)
        #endif
        return connection < 0 ? nil : LoopbackSocket(descriptor: connection)
    }

    /// Waits for the next bytes. Returns no bytes once the client has closed the connection or the socket is shut down.
    func receive() -> [UInt8] {
        // `unsafe`: `recv` writes at most `buffer.count` bytes, and returns their number, which becomes the count of the array.
        unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    /// Sends all bytes, and returns whether that succeeded.
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        var remaining = Array(bytes)[...]
        while !remaining.isEmpty {
            // `unsafe`: `send` reads at most `buffer.count` bytes of the array's buffer, which does not escape the closure.
            let sent = unsafe remaining.withUnsafeBytes { buffer in
                unsafe Self.send(descriptor, buffer.baseAddress, buffer.count)
            }
            guard sent > 0 else { return false }
            remaining = remaining.dropFirst(sent)
        }
        return true
    }

    /// Ends all waits for the socket, and notifies the other side.
    func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes the descriptor. The socket must not be used afterwards.
    func close() {
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }

    private static func check(_ call: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Failure(call: call, code: errno) }
        return result
    }

    /// Sends bytes without raising a signal if the other side has closed the connection.
    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        // `unsafe`, here and for the other systems: callers pass a buffer of `count` bytes, and no more are read.
        #if canImport(Glibc)
        unsafe Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        #elseif canImport(Musl)
        // `unsafe`: as above.
        unsafe Musl.send(descriptor, bytes, count, MSG_NOSIGNAL)
        #else
        // `unsafe`: as above.
        unsafe Darwin.send(descriptor, bytes, count, 0)
        #endif
    }
}
