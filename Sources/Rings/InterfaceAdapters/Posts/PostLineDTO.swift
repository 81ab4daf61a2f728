import Entities
import InwardRepositories

/// A post as somebody writes it in a line of JSON.
struct PostLineDTO: Decodable {
    let userId: FieldDTO<Int>
    let title: FieldDTO<String>
    let body: FieldDTO<String>

    var authorID: User.ID { User.ID(userId.value) }
}
