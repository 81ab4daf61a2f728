/// Makes links for pages of a web site: `/users/7`.
public struct PathRouter: Router {
    private let root: String

    /// Makes a router.
    ///
    /// - Parameter root: The path that the pages lie below.
    public init(root: String = "/") {
        self.root = root.hasSuffix("/") ? root : "\(root)/"
    }

    /// The path of the page of a destination.
    public func link(to destination: Destination) -> Link? {
        Link("\(root)\(destination)")
    }
}
