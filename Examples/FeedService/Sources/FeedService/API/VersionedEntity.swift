import Crypto
import Entities
import Foundation
import Hummingbird
import InwardCore
import InwardFetching

/// An entity whose versions have entity tags, so that a client can name the version that it wants to change.
protocol VersionedEntity {
    /// What distinguishes the versions. The identity is not part of it, because it changes when a pending entity is created.
    var versionParts: [String] { get }
}

extension VersionedEntity {
    /// Returns the entity tag of this version.
    func entityTag(isPending: Bool) -> EntityTag {
        var digest = SHA256()
        // With their lengths, so that no other parts have the same text.
        for part in versionParts { digest.update(data: Data("\(part.utf8.count) \(part)".utf8)) }
        return EntityTag(digest: digest.finalize().prefix(16) + (isPending ? [1] : []))
    }

    /// Returns whether a request may change this version: `If-Match` names it, pending or not, or is missing.
    func isNamed(by request: Request) -> Bool {
        let values = request.headers[values: .ifMatch]
        return [false, true].contains { entityTag(isPending: $0).matches(ifMatch: values) }
    }
}

extension Post: VersionedEntity {
    var versionParts: [String] { [authorID.description, title, body] }
}

extension Comment: VersionedEntity {
    var versionParts: [String] { [postId.description, name, email, body] }
}

extension Reading where Value: VersionedEntity {
    /// The entity tag of the version.
    var entityTag: EntityTag { value.entityTag(isPending: isPending) }
    /// What the API calls the state.
    var state: String { isPending ? "pending" : "published" }
}
