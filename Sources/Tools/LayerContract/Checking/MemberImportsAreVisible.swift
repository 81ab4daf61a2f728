/// Rule 11: the compiler must reject members of modules that a file does not import.
struct MemberImportsAreVisible {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] {
        package.description.targets.filter { !$0.checksMemberImports && package.ring(of: $0) != nil }.map { target in
            Finding(
                rule: .memberImportsAreVisible,
                location: package.manifest.location(ofTarget: target.name),
                edge: target.name,
                message:
                    "\(target.name) is compiled without the upcoming feature MemberImportVisibility, so its files can "
                    + "use members of modules that they do not import.",
                remedy:
                    "Add `.enableUpcomingFeature(\"MemberImportVisibility\")` to the swiftSettings of \(target.name) in "
                    + "\(ManifestLines.file), without a condition, and the imports that the compiler then asks for."
            )
        }
    }
}
