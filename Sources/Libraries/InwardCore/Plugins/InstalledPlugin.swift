/// A plugin that can be compared with any other, and whose hash value is known.
struct InstalledPlugin<Value: Sendable>: Hashable {
    let plugin: any Plugin<Value>
    private let hash: Int

    init(_ plugin: some Plugin<Value>) {
        self.plugin = plugin
        hash = plugin.hashValue
    }

    static func == (left: Self, right: Self) -> Bool {
        left.hash == right.hash && left.plugin.isEqual(to: right.plugin)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

extension Plugin {
    fileprivate func isEqual(to other: any Plugin<Value>) -> Bool {
        (other as? Self) == self
    }
}
