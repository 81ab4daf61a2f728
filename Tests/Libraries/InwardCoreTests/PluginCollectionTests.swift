import Testing

@testable import InwardCore

struct PluginCollectionTests {
    private struct Adding: Plugin {
        let amount: Int
        func applied(to value: Int) async -> Int { value + amount }
    }

    private struct Doubling: Plugin {
        func applied(to value: Int) async -> Int { value * 2 }
    }

    @Test func eachPluginReceivesTheResultOfThePreviousOne() async {
        #expect(await PluginCollection<Int>([Adding(amount: 3), Doubling()]).applied(to: 1) == 8)
        #expect(await PluginCollection<Int>([Doubling(), Adding(amount: 3)]).applied(to: 1) == 5)
        #expect(await PluginCollection<Int>().applied(to: 1) == 1)
    }

    @Test func pluginsWithEqualHashValuesCanBeUnequal() {
        struct Crowded: Plugin {
            let name: String
            func applied(to value: Int) async -> Int { value }
            func hash(into hasher: inout Hasher) { hasher.combine(0) }
        }
        struct Other: Plugin {
            func applied(to value: Int) async -> Int { value }
            func hash(into hasher: inout Hasher) { hasher.combine(0) }
        }
        let plugins = PluginCollection<Int>([Crowded(name: "a")])
        #expect(plugins == PluginCollection<Int>([Crowded(name: "a")]))
        #expect(plugins != PluginCollection<Int>([Crowded(name: "b")]))
        #expect(plugins != PluginCollection<Int>([Other()]))
    }

    @Test func collectionsAreEqualIfTheirPluginsAreEqualAndInOrder() {
        let first = PluginCollection<Int>([Adding(amount: 3), Doubling()])
        var second = PluginCollection<Int>([Adding(amount: 3)])
        #expect(first != second)
        second.add(Doubling())
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(first != PluginCollection<Int>([Doubling(), Adding(amount: 3)]))
        #expect(first != PluginCollection<Int>([Adding(amount: 4), Doubling()]))
    }

    @Test func removingAPluginRemovesAllEqualOnes() {
        var plugins = PluginCollection<Int>([Doubling(), Adding(amount: 3), Doubling()])
        plugins.remove(Doubling())
        #expect(plugins == PluginCollection<Int>([Adding(amount: 3)]))
    }

    @Test func firstPluginsFormACollection() {
        let plugins = PluginCollection<Int>([Doubling(), Adding(amount: 3)])
        #expect(plugins.first(1) == PluginCollection<Int>([Doubling()]))
        #expect(plugins.first(0).isEmpty)
        #expect(plugins.first(9) == plugins)
    }

    @Test func closuresAreEqualIfTheirIdentitiesAre() async {
        let first = CustomPlugin(identity: "negated") { (value: Int) in -value }
        let second = CustomPlugin(identity: "negated") { (value: Int) in -value }
        #expect(first == second && first.hashValue == second.hashValue)
        #expect(first != CustomPlugin(identity: "other") { (value: Int) in -value })
        #expect(await first.applied(to: 3) == -3)
    }
}
