/// Makes no links, for a medium that leads nowhere.
public struct NoLinks: Router {
    /// Makes a router.
    public init() {}

    /// Nothing.
    public func link(to destination: Destination) -> Link? { nil }
}
