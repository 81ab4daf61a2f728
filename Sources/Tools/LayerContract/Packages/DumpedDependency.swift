/// A dependency as `swift package dump-package` prints it: a list whose form its key tells.
struct DumpedDependency: Decodable {
    private enum CodingKeys: String, CodingKey {
        case byName, target, product, plugin
    }

    private enum Form {
        case byName, target, product, plugin
    }

    private let form: Form
    private let name: String
    private let package: String?
    private let aliases: [String]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let key: CodingKeys
        if container.contains(.target) {
            (form, key) = (.target, .target)
        } else if container.contains(.product) {
            (form, key) = (.product, .product)
        } else if container.contains(.plugin) {
            (form, key) = (.plugin, .plugin)
        } else {
            (form, key) = (.byName, .byName)
        }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        name = try list.decode(String.self)
        let namesPackage = form == .product || form == .plugin
        package = namesPackage ? try list.decode(String?.self) : nil
        aliases = form == .product ? try list.decode([String: String]?.self).map { $0.values.sorted() } ?? [] : []
    }

    func resolved(among targets: Set<String>, _ packages: [String]) -> TargetDependency {
        switch form {
        case .target: .target(name)
        case .byName where targets.contains(name): .target(name)
        case .byName: .product(name, package: Self.package(of: name, packages), aliases: [])
        case .product: .product(name, package: package ?? Self.package(of: name, packages), aliases: aliases)
        case .plugin: package.map { .plugin(name, package: $0) } ?? .target(name)
        }
    }

    /// A product without its package belongs to the package of its name, or to the only one there is.
    private static func package(of product: String, _ packages: [String]) -> String {
        packages.first { $0.lowercased() == product.lowercased() } ?? (packages.count == 1 ? packages[0] : product)
    }
}
