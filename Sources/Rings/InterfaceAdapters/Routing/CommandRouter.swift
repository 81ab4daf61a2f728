/// Makes links that are typed behind a command: `--open users/7`.
public struct CommandRouter: Router {
    private let option: String

    /// Makes a router.
    ///
    /// - Parameter option: The option that the command takes a destination by.
    public init(option: String) {
        self.option = option
    }

    /// The option with the destination's path.
    public func link(to destination: Destination) -> Link? {
        Link("\(option) \(destination)")
    }
}
