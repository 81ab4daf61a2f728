/// A directed graph of names.
struct Graph {
    private var neighbours: [String: Set<String>]

    init(_ neighbours: [String: [String]]) {
        self.neighbours = neighbours.mapValues(Set.init)
    }

    /// Removes an edge.
    mutating func remove(_ source: String, _ destination: String) {
        neighbours[source]?.remove(destination)
    }

    /// Returns a short cycle; `nil` if there is none.
    ///
    /// - Complexity: O(nodes + edges), not counting the sorting of names.
    func circle() -> [String]? {
        guard let node = nodeInCircle() else { return nil }
        // Breadth-first search, visiting each node once. The first path that leads back to the start is a shortest cycle.
        var previous: [String: String] = [:]
        var waiting = [node]
        while !waiting.isEmpty {
            var further: [String] = []
            for name in waiting {
                for next in (neighbours[name] ?? []).sorted() {
                    if next == node { return way(to: name, previous) }
                    guard previous[next] == nil else { continue }
                    previous[next] = name
                    further.append(next)
                }
            }
            waiting = further
        }
        return nil
    }

    private func way(to node: String, _ previous: [String: String]) -> [String] {
        var way = [node]
        while let before = previous[way[way.count - 1]] { way.append(before) }
        return way.reversed()
    }

    /// Returns a node that can reach itself. After nodes without outgoing edges are removed repeatedly, a walk among the
    /// remaining nodes must meet a node twice.
    private func nodeInCircle() -> String? {
        var remaining = neighbours.filter { !$0.value.isEmpty }
        var ends = Set(neighbours.values.flatMap(\.self)).subtracting(remaining.keys)
        var users: [String: [String]] = [:]
        for (user, used) in remaining { for name in used { users[name, default: []].append(user) } }
        // A node without outgoing edges is not part of a cycle. Neither is a node that leads only to such nodes.
        while let end = ends.popFirst() {
            for user in users[end] ?? [] {
                remaining[user]?.remove(end)
                if remaining[user]?.isEmpty == true {
                    remaining[user] = nil
                    ends.insert(user)
                }
            }
        }
        guard var node = remaining.keys.min() else { return nil }
        var seen: Set<String> = []
        while seen.insert(node).inserted, let next = remaining[node]?.min() { node = next }
        return node
    }
}
