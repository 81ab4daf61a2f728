import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The proxies named by environment variables such as `http_proxy`.
///
/// Outside of Apple's platforms, `URLSession` takes its proxies from these variables (libcurl does) and offers no way to turn
/// that off: it ignores the `connectionProxyDictionary` of its configuration. See ``URLSessionDataFetcher`` for the
/// consequences.
public struct EnvironmentProxies: Sendable {
    private let environment: [String: String]

    /// Creates the proxies of an environment.
    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Removes the proxy variables from the environment of this process, so that no request goes through a proxy.
    ///
    /// Call this method first in `main`, before another thread or task can read the environment: changing the environment while
    /// another thread reads it is a data race. On Apple's platforms, this method does nothing, because nothing reads the
    /// variables there.
    public static func ignore() {
        #if canImport(FoundationNetworking)
        // `unsafe`: the name lives until the call returns, and no other thread reads the environment, as required above.
        for name in names { _ = unsafe unsetenv(name) }
        #endif
    }

    /// Returns the variable that makes `URLSession` send a request for an address through a proxy; `nil` if the request goes
    /// directly to the host.
    ///
    /// If `no_proxy` is written in an unusual way, this method may return a variable even though the client exempts the
    /// address. It never misses a proxy.
    func variable(for url: URL) -> String? {
        let names: [String] =
            switch url.scheme?.lowercased() {
            // Not HTTP_PROXY: in CGI, clients of the server can set it.
            case "http": ["http_proxy"]
            case "https": ["https_proxy", "HTTPS_PROXY"]
            default: []
            }
        let variable = (names + ["all_proxy", "ALL_PROXY"]).first { value(of: $0) != nil }
        guard let variable, !isExempt(url.host() ?? "") else { return nil }
        return variable
    }

    private func isExempt(_ host: String) -> Bool {
        guard let list = value(of: "no_proxy") ?? value(of: "NO_PROXY") else { return false }
        if list == "*" { return true }
        let host = host.lowercased()
        let isNumeric = host.contains(":") || host.split(separator: ".").last.map { $0.allSatisfy(\.isNumber) } ?? true
        return list.split(separator: ",").contains { entry in
            let name = entry.trimmingPrefix { $0 == " " }.lowercased()
            guard name.contains(where: { $0 != "." }) else { return false }
            return name == host || !isNumeric && host.hasSuffix(name.hasPrefix(".") ? name : ".\(name)")
        }
    }

    /// An empty variable counts as not set.
    private func value(of name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}
