import LayerContract
import Testing

@testable import scaffold_subject

struct SubjectTargetsTests {
    private let shop = [PackageTarget].example { role in
        switch role {
        case .entities: "ShopEntities"
        case .useCases: "ShopUseCases"
        case .adapters: "ShopAdapters"
        case .composition: "Shop"
        case .doubles: nil
        }
    }

    private func diagram(_ lines: String) throws -> LayerDiagram {
        try LayerDiagram(markdown: "```mermaid\nflowchart LR\n\(lines)\n```\n", file: "Architecture.md")
    }

    @Test func defaultNamesAreThoseOfThisPackage() throws {
        let targets = try SubjectTargets(names: [:], diagram: nil, among: .example())
        #expect(targets[.sources(.adapters)].name == "InterfaceAdapters")
        #expect(targets[.tests(.adapters)].name == "InterfaceAdaptersTests")
        #expect(targets[.tests(.doubles)].name == "UseCasesTestingTests")
    }

    @Test func diagramNamesTheTargets() throws {
        let diagram = try diagram(
            """
            Composition["Composition<br/>targets: Shop"] --> ShopAdapters
            ShopAdapters --> ShopUseCases
            ShopUseCases --> ShopEntities
            """
        )
        let targets = try SubjectTargets(names: [:], diagram: diagram, among: shop)
        let names = TargetRole.allCases.map { targets[.sources($0)].name }
        #expect(names == ["ShopEntities", "ShopUseCases", "ShopAdapters", "Shop", "ShopUseCasesTests"])
    }

    @Test func diagramNamesTheTestTargets() throws {
        let diagram = try diagram("Entities[\"Entities<br/>tests: EntityChecks\"]")
        let checks = PackageTarget("EntityChecks", in: "Tests/EntityChecks")
        let targets = try SubjectTargets(names: [:], diagram: diagram, among: .example() + [checks])
        #expect(targets[.tests(.entities)] == checks)
    }

    @Test func givenNamesTakePrecedence() throws {
        let diagram = try diagram("Entities[\"Entities<br/>targets: A, B\"]")
        let other = PackageTarget("Other", in: "Other")
        let tests = PackageTarget("OtherTests", in: "OtherTests")
        let targets = try SubjectTargets(
            names: [.entities: "Other"],
            diagram: diagram,
            among: .example() + [other, tests]
        )
        #expect(targets[.sources(.entities)] == other)
        #expect(targets[.tests(.entities)] == tests)
    }

    @Test func severalTargetsOfARoleAreRefused() throws {
        let error = #expect(throws: ScaffoldError.severalTargets(.entities, ["ShopEntities", "OrderEntities"])) {
            try SubjectTargets(
                names: [:],
                diagram: diagram("ShopEntities --> OrderEntities"),
                among: .example()
            )
        }
        #expect(error?.description.contains("Choose one with --target entities=NAME. Nothing was written.") == true)
    }

    @Test func missingTargetsAreReportedWithARemedy() throws {
        let error = #expect(throws: ScaffoldError.self) {
            try SubjectTargets(
                names: [.composition: "Shop", .adapters: "ShopAdapters", .doubles: "Mocks"],
                diagram: nil,
                among: shop.filter { $0.name != "ShopTests" }
            )
        }
        #expect(
            error?.description == """
                The package has no target “Entities” for the entities, no target “UseCases” for the use cases and their ports, \
                no target “ShopTests” for the tests of the containers, no target “Mocks” for the test doubles. Its Swift targets \
                are: Shop, ShopAdapters, ShopAdaptersTests, ShopEntities, ShopEntitiesTests, ShopUseCases, ShopUseCasesTests. \
                Choose among them with --target entities=NAME --target use-cases=NAME --target composition=NAME \
                --target doubles=NAME, or add the missing targets to Package.swift, each with a source file, because SwiftPM \
                ignores a target without one. Nothing was written.
                """
        )
    }

    @Test func targetsOfOtherPackagesAreIgnored() {
        let foreign = [PackageTarget].example(in: "/checkouts/inward/Sources", testsIn: "/checkouts/inward/Tests")
        #expect(throws: ScaffoldError.self) {
            try SubjectTargets(names: [:], diagram: nil, among: foreign)
        }
    }
}
