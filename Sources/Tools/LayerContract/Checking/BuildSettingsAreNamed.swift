/// Rule 9: linked libraries that bypass the dependencies, and unsafe flags, must be named in the diagram.
struct BuildSettingsAreNamed {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] { package.description.targets.flatMap(findings) }

    private func findings(of target: TargetDescription) -> [Finding] {
        let ring = package.ring(of: target)
        var seen: Set<BuildSetting.Kind> = []
        let settings = target.settings.compactMap { setting -> Finding? in
            switch setting.kind {
            case .linkedLibrary(let name), .linkedFramework(let name):
                guard ring?.links.contains(name) != true, seen.insert(setting.kind).inserted else { return nil }
                return finding(linking: name, at: package.manifest.location(of: setting, of: target.name), of: target)
            case .unsafeFlags(let flags):
                guard ring?.unsafeFlags.contains(setting.tool) != true else { return nil }
                return finding(setting, flags, of: target)
            case .headerSearchPath, .upcomingFeature, .swiftLanguageMode:
                return nil
            }
        }
        let linked = package.linkedByModuleMap(target).filter { ring?.links.contains($0.name) != true }
        return settings + linked.map { finding(linking: $0.name, at: $0.location, of: target) }
    }

    private func finding(
        linking name: String,
        at location: SourceLocation,
        of target: TargetDescription
    ) -> Finding {
        finding(
            "\(target.name) links \(name), and ",
            "does not name it.",
            "Link it in a ring that may, or add it to “\(RingLabel.Key.links.rawValue):” of",
            at: location,
            edge: "\(target.name) → \(name)",
            of: target
        )
    }

    private func finding(_ setting: BuildSetting, _ flags: [String], of target: TargetDescription) -> Finding {
        let tool = setting.tool.rawValue
        return finding(
            "\(target.name) passes unsafe flags to \(tool): “\(flags.joined(separator: " "))”, and ",
            "does not allow that. Such flags can add modules, headers and libraries that no rule sees.",
            "Remove them, or add \(tool) to “\(RingLabel.Key.unsafeFlags.rawValue):” of",
            at: package.manifest.location(of: setting, of: target.name),
            edge: "\(target.name) → unsafe flags of \(tool)",
            of: target
        )
    }

    private func finding(
        _ beginning: String,
        _ absence: String,
        _ remedy: String,
        at location: SourceLocation,
        edge: String,
        of target: TargetDescription
    ) -> Finding {
        let ring = package.ring(of: target)?.name
        return Finding(
            rule: .buildSettingsAreNamed,
            location: location,
            edge: edge,
            message: beginning + (ring.map { "the ring \($0) \(absence)" } ?? "\(target.name) is in no ring."),
            remedy: "\(remedy) \(ring ?? "its ring") in \(package.diagram.file) if that is intended."
        )
    }
}

extension CheckedPackage {
    /// A linked library or framework.
    struct Link {
        let name: String
        let location: SourceLocation
    }

    /// Returns the libraries and frameworks that the module maps of a C target link. System libraries may link anything.
    func linkedByModuleMap(_ target: TargetDescription) -> [Link] {
        guard target.language == .c else { return [] }
        return sources.filter { $0.target == target.name }.flatMap { source in
            source.moduleMapLinks.map {
                Link(name: $0.name, location: SourceLocation(file: source.path, line: $0.line))
            }
        }
    }

    /// Returns the names of the libraries and frameworks that the targets link.
    func links(of targets: [TargetDescription]) -> Set<String> {
        targets.reduce(into: []) { names, target in
            for setting in target.settings {
                switch setting.kind {
                case .linkedLibrary(let name), .linkedFramework(let name): names.insert(name)
                default: break
                }
            }
            names.formUnion(linkedByModuleMap(target).map(\.name))
        }
    }

    /// Returns the tools that the targets pass unsafe flags to, in case order.
    func unsafeFlags(of targets: [TargetDescription]) -> [BuildSetting.Tool] {
        BuildSetting.Tool.allCases.filter { tool in
            targets.contains { target in
                target.settings.contains { setting in
                    if case .unsafeFlags = setting.kind { setting.tool == tool } else { false }
                }
            }
        }
    }
}

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
