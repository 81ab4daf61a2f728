/// Turns destinations into links for one medium.
public protocol Router: Sendable {
    /// The link to a destination; `nil` if the medium has none.
    func link(to destination: Destination) -> Link?
}
