/// Who uses whom, by name.
struct Graph {
    private let neighbours: [String: [String]]

    init(_ neighbours: [String: [String]]) {
        self.neighbours = neighbours.mapValues { $0.sorted() }
    }

    /// The circles of the graph: for each set of nodes that all lead to each other, a shortest way round from its
    /// first node by name. A node that leads to itself alone is no circle.
    ///
    /// - Complexity: O(nodes × edges), for the few nodes that a package has.
    func circles() -> [[String]] {
        var circles: [[String]] = []
        var seen: Set<String> = []
        for node in neighbours.keys.sorted() where !seen.contains(node) {
            let component = reachable(from: node).filter { $0 == node || reachable(from: $0).contains(node) }
            seen.formUnion(component)
            if component.count > 1, let circle = wayRound(from: node) { circles.append(circle) }
        }
        return circles
    }

    /// The nodes that lead to each other with this one, itself among them.
    func component(of node: String) -> Set<String> {
        reachable(from: node).filter { reachable(from: $0).contains(node) }.union([node])
    }

    private func reachable(from node: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = neighbours[node] ?? []
        while let next = waiting.popLast() {
            if reached.insert(next).inserted { waiting += neighbours[next] ?? [] }
        }
        return reached
    }

    /// A shortest way from a node back to itself.
    private func wayRound(from node: String) -> [String]? {
        var ways = [[node]]
        var seen: Set<String> = []
        while !ways.isEmpty {
            var longer: [[String]] = []
            for way in ways {
                for next in neighbours[way[way.count - 1]] ?? [] {
                    if next == node, way.count > 1 { return way }
                    if next != node, seen.insert(next).inserted { longer.append(way + [next]) }
                }
            }
            ways = longer
        }
        return nil
    }
}
