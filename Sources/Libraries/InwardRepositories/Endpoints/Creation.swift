#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How an entity comes to be of what is sent to an endpoint's list.
public struct Creation<Entity: Sendable>: Sendable {
    let pending: @Sendable ([UInt8], Int) -> Entity?
    let created: @Sendable ([UInt8], Data) throws(FieldError) -> Entity

    /// Describes it by what is sent and what is answered.
    ///
    /// - Parameters:
    ///   - draft: What is sent. It is kept until the upstream has answered, maybe by a later version of the program.
    ///   - answer: What the upstream says of it.
    ///   - pending: The entity as it is shown until then, of what is sent and a number that no other has that is pending; `nil` if
    ///     it cannot be shown.
    ///   - created: The entity that it is from then on.
    public init<Draft: Codable & SendableMetatype, Answer: Decodable & SendableMetatype>(
        _ draft: Draft.Type,
        answer: Answer.Type,
        pending: @escaping @Sendable (Draft, Int) -> Entity?,
        created: @escaping @Sendable (Draft, Answer) throws(FieldError) -> Entity
    ) {
        self.pending = { body, number in
            (try? Draft.decoded(from: Data(body))).flatMap { pending($0, number) }
        }
        self.created = { body, answer throws(FieldError) in
            try created(try Draft.decoded(from: Data(body)), try Answer.decoded(from: answer))
        }
    }
}
