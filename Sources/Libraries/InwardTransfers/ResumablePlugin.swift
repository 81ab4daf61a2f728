public import InwardCore

/// A step of a transfer that another run can take up in the middle.
///
/// What it makes of a piece depends on the bytes, the offset and whether it is the last, as with every `Plugin`, and not on where
/// the pieces are cut: two pieces give what both together would.
public protocol ResumablePlugin: Plugin where Value == DataPiece {
    /// What the step does, in words that are the same in each run: all that it goes by must be in them.
    var resumptionName: String { get }
}

extension PluginCollection<DataPiece> {
    /// What the steps do, in words; `nil` if one of them cannot be taken up in the middle.
    var resumptionNames: [String]? {
        let names = compactMap { ($0 as? any ResumablePlugin)?.resumptionName }
        return names.count == count ? names : nil
    }
}
