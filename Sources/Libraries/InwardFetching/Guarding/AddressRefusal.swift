import InwardCore

/// An error that explains why an ``AddressPolicy`` refuses a URL or an address.
///
/// ```swift
/// do {
///     try AddressPolicy.publicInternet.check(url)
/// } catch {
///     print(error)  // The host "127.0.0.1" was refused because it leads to this machine (loopback).
/// }
/// ```
///
/// The description is safe to show to the requester. It contains the host only as the requester wrote it, and never an address
/// that a name resolved to.
public struct AddressRefusal: Error, Hashable, Sendable {
    /// The rule.
    public let rule: Rule
    /// The host as the requester wrote it; `nil` if it is missing or unknown.
    public let host: String?

    init(_ rule: Rule, host: String?) {
        self.rule = rule
        self.host = host
    }
}

extension AddressRefusal: CustomStringConvertible {
    /// What was refused, why, and by which rule, as a sentence.
    public var description: String { "The \(clause)." }

    /// The description as a part of a sentence.
    fileprivate var clause: String { "\(subject) was refused because \(rule.explanation) (\(rule))" }

    private var subject: String {
        let quotation = host.map { "\"\($0.excerpt(upTo: 253).visible)\"" }
        return rule.isAboutURL
            ? quotation.map { "URL with the host \($0)" } ?? "URL"
            : quotation.map { "host \($0)" } ?? "address"
    }
}

extension FetchError {
    /// Creates the error of a request that an ``AddressPolicy`` refuses. Its reason is ``Reason/addressRefused``.
    ///
    /// ```swift
    /// do throws(AddressRefusal) {
    ///     try AddressPolicy.publicInternet.check(request.url)
    /// } catch {
    ///     throw FetchError(error, of: request)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - request: The request, which must not have been sent.
    public init(_ refusal: AddressRefusal, of request: DataRequest) {
        self.init(
            .addressRefused,
            request: request,
            explanation: "was not sent: the \(refusal.clause)",
            refusal: refusal
        )
    }
}
