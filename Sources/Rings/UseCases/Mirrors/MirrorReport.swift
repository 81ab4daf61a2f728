/// What a mirror has that was made.
public struct MirrorReport: Hashable, Sendable {
    /// How many users it has.
    public let userCount: Int
    /// How many posts it has.
    public let postCount: Int
    /// How many pictures of users it has.
    public let avatarCount: Int
    /// How many items were transferred for it; the others were there already, and unchanged.
    public let transferredCount: Int
}
