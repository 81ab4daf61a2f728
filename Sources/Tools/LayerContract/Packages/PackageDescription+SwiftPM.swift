#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension PackageDescription {
    /// Reads what SwiftPM says of a package.
    ///
    /// The first knows which sources belong to a target, the second which dependencies are declared, also those whose
    /// condition does not hold at the moment.
    ///
    /// - Parameters:
    ///   - description: what `swift package describe --type json` printed.
    ///   - manifest: what `swift package dump-package` printed.
    /// - Throws: a ``PackageDescriptionError`` if one of them is not understood.
    public init(description: Data, manifest: Data) throws(PackageDescriptionError) {
        let described = try Self.decode(DescribedPackage.self, from: description, of: "swift package describe")
        let dumped = try Self.decode(DumpedPackage.self, from: manifest, of: "swift package dump-package")
        let names = Set(dumped.targets.map(\.name))
        let packages = dumped.packageIdentities
        let dependencies = dumped.targets.map { ($0.name, $0.resolved(among: names, packages)) }
        let declared = Dictionary(dependencies) { first, _ in first }
        self.init(
            name: described.name,
            path: described.path,
            // Snippets are described and not declared: nobody can say what they may use.
            targets: described.targets.filter { declared[$0.name] != nil }.map { target in
                target.description(dependencies: declared[target.name] ?? [])
            }
        )
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        of command: String
    ) throws(PackageDescriptionError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            let beginning = String(decoding: data.prefix(300), as: UTF8.self)
            throw PackageDescriptionError(
                "What “\(command)” printed is not understood: \(error). It is \(data.count) bytes and begins with “\(beginning)”"
            )
        }
    }
}
