public import Entities
public import InwardRepositories

extension Endpoint<User> {
    /// The users of an upstream that keeps them as JSON, a list at `users` and each by its identity at `users/7`.
    ///
    /// - Parameter lifetimes: How long its answers are fresh, and how long they are kept.
    /// - Returns: the endpoint.
    public static func users(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(UserDTO.self, at: "users", lifetimes: lifetimes)
    }
}
