/// Who uses whom, by name.
struct Graph {
    private var neighbours: [String: Set<String>]

    init(_ neighbours: [String: [String]]) {
        self.neighbours = neighbours.mapValues(Set.init)
    }

    /// Takes an edge out.
    mutating func remove(_ source: String, _ destination: String) {
        neighbours[source]?.remove(destination)
    }

    /// A short way round, from a node back to it; `nil` if there is none.
    ///
    /// - Complexity: O(nodes + edges), but for sorting names.
    func circle() -> [String]? {
        guard let node = nodeInCircle() else { return nil }
        // Breadth first, each node once: the way back from the first that leads to the node again is a shortest one.
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

    /// A node that leads back to itself: without those that nobody leads to, one after the other, and going on from
    /// any of the rest, a node is met again.
    private func nodeInCircle() -> String? {
        var remaining = neighbours.filter { !$0.value.isEmpty }
        var ends = Set(neighbours.values.flatMap(\.self)).subtracting(remaining.keys)
        var users: [String: [String]] = [:]
        for (user, used) in remaining { for name in used { users[name, default: []].append(user) } }
        // What leads nowhere is no part of a circle, and neither is what leads only there.
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
