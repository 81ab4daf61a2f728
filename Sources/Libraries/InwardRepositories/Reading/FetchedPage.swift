import InwardCore

/// A page of a list as it was fetched.
struct FetchedPage<Entity: Identifiable & Sendable> where Entity.ID: Sendable {
    /// What of it was asked for.
    let reading: Reading<[Entity]>
    /// The identities of all that the upstream gave.
    let ids: Set<Entity.ID>
    /// How many records it gave, with the damaged ones.
    let recordCount: Int
    let answer: UpstreamAnswer
}
