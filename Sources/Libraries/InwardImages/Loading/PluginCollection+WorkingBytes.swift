import InwardCore

extension PluginCollection<ImageResult> {
    /// How many bytes the plugins from one on take at the most beside those of the picture that the first of them is given.
    ///
    /// Of a plugin that does not say, it is as much again as the picture.
    ///
    /// - Parameters:
    ///   - first: The first of them.
    ///   - size: How large the picture is.
    ///   - isUpright: Whether nothing has to be turned.
    /// - Returns: the number of bytes.
    func workingBytes(from first: Int, for size: ImageSize, isUpright: Bool) -> Int {
        var size = size
        // What the picture at hand takes, where it is not the one that all began with.
        var held = 0
        var most = 0
        for plugin in self[first...] {
            if isUpright, plugin is Orient { continue }
            let filter = plugin as? any ImageFilter
            let (bytes, isTooMany) = held.addingReportingOverflow(filter?.workingBytes(for: size) ?? size.byteCount)
            most = Swift.max(most, isTooMany ? .max : bytes)
            size = filter?.resultSize(for: size) ?? size
            held = size.byteCount
        }
        return most
    }
}
