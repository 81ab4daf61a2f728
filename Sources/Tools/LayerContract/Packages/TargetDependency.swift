/// A dependency that a target declares.
public enum TargetDependency: Hashable, Sendable {
    /// Another target of the package.
    case target(String)
    /// A product of another package, with the names that its modules are given by `moduleAliases`.
    case product(String, package: String, aliases: [String])
    /// A plugin of another package.
    case plugin(String, package: String)

    /// The name in the manifest.
    var name: String {
        switch self {
        case .target(let name), .product(let name, _, _), .plugin(let name, _): name
        }
    }
}

extension TargetDependency {
    /// The package that it is of, if it is of another one.
    var package: String? {
        switch self {
        case .target: nil
        case .product(_, let package, _), .plugin(_, let package): package
        }
    }
}
