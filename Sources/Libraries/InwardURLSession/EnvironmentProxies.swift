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
/// ```swift
/// EnvironmentProxies.ignore()
/// let fetcher = URLSessionDataFetcher()
/// ```
///
/// Outside of Apple's platforms, `URLSession` uses libcurl, which takes its proxies from these variables. The
/// `connectionProxyDictionary` of a configuration cannot turn them off there. ``URLSessionDataFetcher`` therefore refuses to
/// send requests that would go through a proxy, unless you allow it.
public struct EnvironmentProxies: Sendable {
    private let environment: [String: String]

    /// Reads the proxies from the variables of an environment.
    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Removes the proxy variables from the environment of this process, so that no request goes through a proxy.
    ///
    /// Call this method first in `main`, before another thread or task can read the environment. Changing the environment while
    /// another thread reads it is a data race. On Apple's platforms, this method does nothing, because `URLSession` does not read the
    /// variables there.
    public static func ignore() {
        #if canImport(FoundationNetworking)
        // `unsafe`: The string outlives the call, and by the requirement above, no other thread reads the environment.
        for name in names { _ = unsafe unsetenv(name) }
        #endif
    }

    /// Returns the variable that makes `URLSession` send a request for a URL through a proxy, or `nil` if the request goes directly to
    /// the host.
    ///
    /// If `no_proxy` has an unusual format, this method may return a variable although `URLSession` exempts the host. The
    /// opposite never happens.
    func variable(for url: URL) -> String? {
        let names: [String] =
            switch url.scheme?.lowercased() {
            // libcurl ignores `HTTP_PROXY`, because the clients of a CGI program can set it with a header field.
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

    /// Returns the value of a variable. An empty variable counts as not set.
    private func value(of name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}
