/// An error that explains why an ``AddressPolicy`` cannot be created, or why a fetcher cannot apply it.
///
/// ```swift
/// do throws(AddressPolicyError) {
///     _ = try AddressPolicy(hosts: ["*.example.org"])
/// } catch {
///     print(error)  // The allowed host "*.example.org" is invalid: it contains characters that are not allowed …
/// }
/// ```
public struct AddressPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem and its remedy, as complete sentences.
    public let description: String

    /// Creates an error, for clients that cannot apply a policy.
    ///
    /// - Parameter description: The problem and its remedy, as complete sentences.
    public init(_ description: String) {
        self.description = description
    }

    /// Creates an error about an invalid host.
    init(_ entry: String, _ refusal: AddressRefusal) {
        self.init("The allowed host \"\(entry)\" is invalid: \(refusal.rule.explanation).")
    }
}
