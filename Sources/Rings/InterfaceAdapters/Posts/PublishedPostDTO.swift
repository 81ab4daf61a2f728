import InwardRepositories

/// What an upstream must say of a post it has published: the identity it gave.
struct PublishedPostDTO: Decodable {
    let id: FieldDTO<Int>
}
