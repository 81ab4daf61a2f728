import InwardImages
public import UseCases

extension MirroredItem {
    /// Where an upstream has the item, relative to its own address.
    public var path: String {
        switch self {
        case .users: "users"
        case .posts: "posts"
        case .avatar(let id): ImageAddress.avatar(of: id).rawValue
        }
    }

    /// Where a directory that mirrors an upstream has the item, relative to the directory.
    public var fileName: String {
        switch self {
        case .users, .posts: "\(path).json"
        case .avatar: path
        }
    }
}
