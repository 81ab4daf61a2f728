import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The proxies that variables such as `http_proxy` name in the environment of a process.
///
/// Outside of Apple's platforms, the platform's client takes its proxy from there (libcurl does), and has no option against
/// it: it ignores the `connectionProxyDictionary` of its configuration. See ``URLSessionDataFetcher`` for what follows.
public struct EnvironmentProxies: Sendable {
    private let environment: [String: String]

    /// Takes the proxies from an environment.
    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Removes the proxy variables from the environment of this process, so that no request goes through a proxy.
    ///
    /// Call it first in `main`, before another thread or task can read the environment: a process may only change its
    /// environment while nobody else reads it. On Apple's platforms it does nothing, since nothing reads the variables there.
    public static func ignore() {
        #if canImport(FoundationNetworking)
        // `unsafe`: the name lives until the call returns, and no other thread reads the environment, as required above.
        for name in names { _ = unsafe unsetenv(name) }
        #endif
    }

    /// The variable that makes the platform's client send a request for an address through a proxy; `nil` if it asks the
    /// host itself.
    ///
    /// It may name a variable from which the client would exempt the address, where `no_proxy` is written in an unusual way,
    /// and never misses one.
    func variable(for url: URL) -> String? {
        let names: [String] =
            switch url.scheme?.lowercased() {
            // Not HTTP_PROXY: in CGI a client of the server sets that one.
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

    /// An empty variable counts as none.
    private func value(of name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
}
