public import Entities
public import InwardImages

extension ImageAddress {
    /// Where an upstream has the picture of a user, relative to its own address.
    public static func avatar(of user: User.ID) -> ImageAddress {
        ImageAddress("avatars/\(user.rawValue).jpg")
    }
}
